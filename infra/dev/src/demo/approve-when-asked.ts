import { setTimeout as delay } from 'node:timers/promises';
import { ListGates } from '@flotilla/contracts/calls/list-gates';
import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import type { KeptFleet } from './keeper-messages.ts';

const pollMs = 250;

/** Approves each gate of a run as it opens, as the local user whose token the fleet has, until the signal aborts. */
export async function approveWhenAsked(
  fleet: Pick<KeptFleet, 'url' | 'token'>,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const headers = { authorization: `Bearer ${fleet.token}`, 'content-type': 'application/json' };
  const gatesUrl = new URL(`${ListGates.http.path}?runId=${runId}`, fleet.url);
  try {
    for (;;) {
      const answer = await fetch(gatesUrl, { headers, signal });
      const { gates } = ListGates.response.parse(await answer.json());
      for (const { gateId, change } of gates) {
        const body = JSON.stringify({
          decision: 'approve',
          commit: change.commit,
          comment: 'Approved by the demo: nobody was at a terminal.',
        });
        await fetch(new URL(DecideGate.http.path.replace('{gateId}', gateId), fleet.url), {
          method: 'POST',
          headers,
          body,
          signal,
        });
      }
      await delay(pollMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
