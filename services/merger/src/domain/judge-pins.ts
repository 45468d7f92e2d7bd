import type { RunEnded } from '@flotilla/contracts/events/run-events';
import type { z } from 'zod';

/** How a run ended, as its log tells it. */
export interface RunEnd extends Pick<z.output<typeof RunEnded.payload>, 'result'> {
  readonly at: string;
}

const regretMs = 7 * 24 * 3600 * 1000;

/**
 * Whether nobody needs the commits of a run on this host any more. What landed is in the branch; what did not is kept a week
 * longer for whoever looks into it, though a retry begins at the branch anew and takes nothing of it.
 */
export function arePinsSpent(end: RunEnd | undefined, now: Date): boolean {
  if (end === undefined) return false;
  switch (end.result) {
    case 'landed':
    case 'no_changes':
      return true;
    case 'declined':
    case 'cancelled':
    case 'limit_reached':
    case 'failed':
      return now.getTime() - Date.parse(end.at) > regretMs;
  }
}
