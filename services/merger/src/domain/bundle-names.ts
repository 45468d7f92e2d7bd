import type { CommitId, RunId, StepId } from '@flotilla/contracts/ids';

/** A commit of the remote with its history: one for all runs that begin there. */
export function baseBundleName(commit: CommitId): string {
  return `base/${commit}`;
}

/** The merge that a landing proposes. A name stands for its content, so it holds the commit. */
export function candidateBundleName(
  step: { readonly runId: RunId; readonly stepId: StepId },
  commit: CommitId,
): string {
  return `${step.runId}/${step.stepId}/${commit}`;
}
