import { addSpent, nothingSpent, type Spent } from '@flotilla/contracts/allowance';
import type { LogFact, RunFact, Violation } from './campaign-facts.ts';

const secondsOff = 0.001;

/** What a run is charged with is the sum of what its log shows. */
export function checkSpent(run: RunFact, log: readonly LogFact[]): readonly Violation[] {
  const logged = log
    .filter(({ type }) => type === 'step.completed')
    // The log holds what the contract of the event let in.
    .map(({ payload }) => payload['spent'] as Spent)
    .reduce(addSpent, nothingSpent);
  const agree =
    logged.turns === run.spent.turns &&
    logged.calls === run.spent.calls &&
    logged.tokens === run.spent.tokens &&
    logged.microdollars === run.spent.microdollars &&
    Math.abs(logged.seconds - run.spent.seconds) < secondsOff;
  return agree
    ? []
    : [
        {
          rule: 'a run is charged what its log shows',
          about: run.runId,
          found: `${JSON.stringify(run.spent)}, logged ${JSON.stringify(logged)}`,
        },
      ];
}
