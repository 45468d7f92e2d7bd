import type { RunSummary } from '@flotilla/contracts/calls/run-view';

/** Words of a run's state, as `describeState` and the filters of `list` use them. */
export const stateWords: readonly (readonly [word: string, meaning: string])[] = [
  ['running: STEP', 'this step of its slip is asked for or at work'],
  ['at_gate', 'it waits at a gate for a decision of a person'],
  ['awaiting_turn', 'approved; it waits for its turn to land on the branch'],
  ['cancelling', 'it was asked to stop, and its step has not answered yet'],
  [
    'ended: RESULT',
    'it is over: landed, no_changes (nothing was to be done), declined (at the gate), limit_reached (its allowance is spent), cancelled or failed',
  ],
  ['archived', 'after the result: its log, gates and change lie in a file, which show names'],
];

/** The state, after a colon the step it is at or the result it ended with, and whether it is archived. */
export function describeState({
  state,
  result,
  stepId,
  archive,
}: Pick<RunSummary, 'state' | 'result' | 'stepId' | 'archive'>): string {
  const detail = state === 'ended' ? result : state === 'running' ? stepId : undefined;
  return `${state}${detail === undefined ? '' : `: ${detail}`}${archive === undefined ? '' : ' archived'}`;
}

/** What a run that has nothing to decide on comes to, and what to do about it, in two sentences. */
export function explainRun(run: Pick<RunSummary, 'runId' | 'state' | 'result' | 'stepId' | 'failure'>): {
  readonly state: string;
  readonly next: string;
} {
  const { runId, result, failure } = run;
  const why = failure === undefined ? '' : ` (${failure.code}: ${failure.message})`;
  const state = `${describeState(run)}${why}`;
  switch (result) {
    case undefined:
      return { state, next: `"flotilla watch ${runId}" shows how it goes on, and the question when it comes` };
    case 'landed':
    case 'no_changes':
      return { state, next: `"flotilla show ${runId}" shows it` };
    case 'declined':
    case 'limit_reached':
    case 'cancelled':
    case 'failed':
      return {
        state,
        next: `"flotilla events ${runId}" tells what happened, "flotilla retry ${runId}" asks for its task again`,
      };
  }
}
