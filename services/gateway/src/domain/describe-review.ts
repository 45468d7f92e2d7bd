import type { Change, Finding } from '@flotilla/contracts/change';
import { ChecksPassed, ReviewWritten } from '@flotilla/contracts/events/step-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that say what a review found. */
export const reviewTypes: readonly string[] = [ReviewWritten.type, ChecksPassed.type];

export interface Review {
  readonly review?: string;
  readonly findings: Finding[];
  readonly checks: string[];
}

/** The last review of a run and the checks that passed on exactly the tree of this change. */
export function describeReview(change: Pick<Change, 'tree'>, entries: readonly LogEntry[]): Review {
  const reviews = entries.flatMap((entry) => readEvent(entry, ReviewWritten) ?? []);
  const passed = entries.flatMap((entry) => readEvent(entry, ChecksPassed) ?? []);
  const last = reviews.at(-1);
  const evidence = passed.findLast(({ tree }) => tree === change.tree);
  return {
    ...(last === undefined ? {} : { review: last.summary }),
    findings: last?.findings ?? [],
    checks: evidence?.checks ?? [],
  };
}
