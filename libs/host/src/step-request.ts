import type { RunId, StepId } from '@flotilla/contracts/ids';
import type { Verb } from '@flotilla/contracts/verbs';

/** What the host reads of any step request. */
export interface StepRequest {
  readonly verb: Verb;
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt: number;
  /** ISO time at which waiting and work end. */
  readonly deadline: string;
}
