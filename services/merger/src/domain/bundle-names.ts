import type { CommitId, RunId, StepId } from '@flotilla/contracts/ids';

/** A commit of the remote with its history: one for all runs that begin there. */
export function baseBundleName(commit: CommitId): string {
  return `base/${commit}`;
}

/** The merge that a landing proposes; a later attempt proposes another. */
export function candidateBundleName(step: {
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt: number;
}): string {
  return `${step.runId}/${step.stepId}/${step.attempt}/candidate`;
}
