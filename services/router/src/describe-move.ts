import type { RunState } from './domain/run-state.ts';
import { publishedState } from './store/run-columns.ts';

/** The line of a log that tells where a run is now. */
export function describeMove(run: RunState) {
  const { position, runId } = run;
  const at = position === undefined || position.kind === 'ended' ? {} : { step_id: position.stepId };
  return {
    event: 'run_moved',
    run_id: runId,
    state: publishedState(run),
    ...at,
    ...(position?.kind === 'step' ? { attempt: position.attempt } : {}),
    ...(position?.kind === 'ended' ? { result: position.result } : {}),
  };
}
