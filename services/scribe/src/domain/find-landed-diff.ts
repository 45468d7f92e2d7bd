import { ChangeCaptured, ChangeLanded } from '@flotilla/contracts/events/step-events';
import { readEvent, type LogEntry } from '@flotilla/contracts/log-entry';

/** The diff that landed, else the last one that was captured; undefined where nothing changed. */
export function findLandedDiff(log: readonly LogEntry[]): string | undefined {
  const landed = log.map((entry) => readEvent(entry, ChangeLanded)).findLast((payload) => payload !== undefined);
  const captured = log.map((entry) => readEvent(entry, ChangeCaptured)).findLast((payload) => payload !== undefined);
  return landed?.diff ?? captured?.diff;
}
