import { decisions } from '@flotilla/contracts/events/run-events';
import { CommitId, GateId, Principal, RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { z } from 'zod';

/** A gate as it is kept. */
export const GateFacts = z.object({
  gateId: GateId,
  runId: RunId,
  commit: CommitId,
  state: z.enum(['open', 'decided', 'withdrawn']),
  decision: z.enum(decisions).optional(),
  by: Principal.optional(),
});
export type GateFacts = z.infer<typeof GateFacts>;

export interface WantedDecision {
  readonly gateId: GateId;
  readonly decision: (typeof decisions)[number];
  readonly commit: string;
  readonly comment?: string;
}

/** Why a decision is refused; undefined where it may be taken. A gate is decided once, on the commit that it asks about. */
export function whyDecisionRefused(gate: GateFacts | undefined, wanted: WantedDecision): FlotillaError | undefined {
  const { gateId, decision, commit, comment } = wanted;
  if (gate === undefined) return new FlotillaError(errors.gateUnknown, { gateId });
  if (gate.state === 'decided')
    return new FlotillaError(errors.gateDecided, { gateId, by: gate.by, decision: gate.decision });
  if (gate.state === 'withdrawn') return new FlotillaError(errors.gateWithdrawn, { gateId, runId: gate.runId });
  if (gate.commit !== commit)
    return new FlotillaError(errors.gateCommitDiffers, { gateId, asked: gate.commit, given: commit });
  if (decision === 'request_changes' && (comment ?? '').trim() === '')
    return new FlotillaError(errors.gateCommentMissing);
  return undefined;
}
