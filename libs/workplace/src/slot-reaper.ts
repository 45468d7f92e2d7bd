import { setTimeout as wait } from 'node:timers/promises';
import type { DockerEngine } from '@flotilla/sandbox/docker-engine';
import { reapSlots, removeEarlierAttempts } from '@flotilla/sandbox/reap-slots';
import type { SlotClaim } from '@flotilla/sandbox/slot-labels';
import { stepLeaseKey } from '@flotilla/store/lease';
import type { Store } from '@flotilla/store/store';
import type { StepOccasion } from './workplaces.ts';

export interface SlotsPlace {
  readonly engine: DockerEngine;
  readonly directory: string;
  readonly installation: string;
}

export interface ReaperOptions extends SlotsPlace {
  readonly store: Pick<Store, 'query'>;
  /** Told of what did not go well; the next round finds it again. */
  readonly onFault: (error: unknown) => void;
}

const everyMs = 60_000;
const firstRetryMs = 1_000;

/**
 * Removes, on this host, the slots of processes that have ended and of attempts whose lease is over: at the start, so that a service
 * clears up after its predecessor, and every minute. A round that did not go well is soon followed by another.
 */
export function startReaper({ store, onFault, ...place }: ReaperOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const isAlive = (claim: SlotClaim) => holdsLease(store, claim);
  const reap = async () => {
    let retryMs = firstRetryMs;
    while (!stopping.signal.aborted) {
      let troubled = false;
      const onTrouble = (error: unknown) => {
        troubled = true;
        onFault(error);
      };
      await reapSlots({ ...place, isAlive, onFault: onTrouble }).catch(onTrouble);
      const pauseMs = troubled ? retryMs : everyMs;
      retryMs = troubled ? Math.min(everyMs, retryMs * 2) : firstRetryMs;
      await wait(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  };
  const reaping = reap();
  return {
    async stop() {
      stopping.abort();
      await reaping;
    },
  };
}

/**
 * Removes what earlier deliveries of a step left on this host, of the same attempt too: whoever holds the step's lease is
 * the only one that works on it.
 */
export async function removeDeliveriesOf(place: SlotsPlace, { runId, stepId, attempt }: StepOccasion): Promise<void> {
  await removeEarlierAttempts(place, { run: runId, step: stepId, attempt: attempt + 1 });
}

/** A lease that lapsed a moment ago may still be renewed: its holder lost Postgres for a while and works on. */
async function holdsLease(store: Pick<Store, 'query'>, { run, step, attempt }: SlotClaim): Promise<boolean> {
  const rows = await store.query(
    "select 1 from flow.lease where key = $1 and expires_at > clock_timestamp() - interval '1 minute'",
    [stepLeaseKey({ runId: run, stepId: step, attempt })],
  );
  return rows.length > 0;
}
