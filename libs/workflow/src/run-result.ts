import type { RunResult } from '@flotilla/contracts/events/run-events';
import type { OutcomeKind } from '@flotilla/contracts/outcome';

/** The result that a run already has, whatever happens to it afterwards. */
export type Settled = 'landed' | 'no_changes' | undefined;

/** By what a run ends: the last outcome, a person's no, or a limit of the run. */
export type LastWord = OutcomeKind | 'declined' | 'exhausted';

/** The one end state. What has landed stays landed, and a limit is never success. */
export function resultOfRun(settled: Settled, lastWord: LastWord): RunResult {
  if (settled !== undefined) return settled;
  switch (lastWord) {
    case 'done':
    case 'no_changes':
      return 'no_changes';
    case 'limit_reached':
    case 'exhausted':
      return 'limit_reached';
    case 'cancelled':
    case 'declined':
      return lastWord;
    case 'changes_requested':
    case 'conflict':
    case 'unverified':
    case 'parked':
    case 'failed':
      return 'failed';
  }
}
