import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import type { GateDecision } from '@flotilla/contracts/calls/gate-view';
import { ShowDiff } from '@flotilla/contracts/calls/show-diff';
import { ShowGate } from '@flotilla/contracts/calls/show-gate';
import type { GateId } from '@flotilla/contracts/ids';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { renderDiff } from '../text/render-diff.ts';
import { renderGate } from '../text/render-gate.ts';
import type { Session } from '../session.ts';

const question = '[a]pprove  [r]equest changes  [d]ecline  [v]iew the diff  [l]ater: ';

/**
 * Asks the person at the terminal and carries out the answer on the commit that was shown. Ends without a decision when the
 * person answers later or the signal aborts, because somebody else decided.
 */
export async function askAtGate(gateId: GateId, session: Session, signal: AbortSignal): Promise<void> {
  const api = await session.api();
  const shown = await api.call(ShowGate, { gateId });
  const { gate } = shown;
  if (gate.state !== 'open') return;
  const { out, palette } = session;
  for (const line of renderGate(shown, palette)) out(line);
  for (;;) {
    const answer = (await session.ask(question, signal)).trim().toLowerCase();
    if (answer === 'l' || answer === 'later') {
      session.note('Not decided: the run waits. This still watches; Ctrl-C leaves it.');
      return;
    }
    if (answer === 'v') {
      const { diff } = await api.call(ShowDiff, { runId: gate.runId });
      out(renderDiff(diff, palette));
      continue;
    }
    const decision = readDecision(answer);
    if (decision === undefined) continue;
    const comment = decision === 'approve' ? '' : (await session.ask('What should the author know? ', signal)).trim();
    if (decision === 'request_changes' && comment === '') continue;
    try {
      const { commit } = gate.change;
      await api.call(DecideGate, { gateId, decision, commit, ...(comment === '' ? {} : { comment }) });
    } catch (error) {
      if (!(error instanceof FlotillaError) || error.status !== 409) throw error;
      session.note(`${error.message}. ${error.advice}`);
    }
    return;
  }
}

function readDecision(answer: string): GateDecision | undefined {
  switch (answer) {
    case 'a':
    case 'approve':
      return 'approve';
    case 'r':
      return 'request_changes';
    case 'd':
    case 'decline':
      return 'decline';
    default:
      return undefined;
  }
}
