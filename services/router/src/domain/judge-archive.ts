import type { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** What is asked of a run before it is archived. */
export interface ArchiveFacts {
  readonly runId: RunId;
  /** Undefined while the run is under way. */
  readonly endedAt: Date | undefined;
  /** The run that does its task again, while that one is under way: whoever follows it may look back. */
  readonly retry: RunId | undefined;
}

/** Why a run is not archived, however old it is; undefined where it may be. */
export function whyKept({ runId, endedAt, retry }: ArchiveFacts): FlotillaError | undefined {
  if (endedAt === undefined) return new FlotillaError(errors.runNotEnded, { runId });
  if (retry !== undefined) return new FlotillaError(errors.archiveRetryUnderWay, { runId, retry });
  return undefined;
}

const dayMs = 24 * 3600 * 1000;

/** Runs that ended before this moment are old enough. */
export function archiveBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMs);
}

/** Whether a run is archived by its age. */
export function isDue(facts: ArchiveFacts, before: Date): boolean {
  return whyKept(facts) === undefined && facts.endedAt !== undefined && facts.endedAt < before;
}
