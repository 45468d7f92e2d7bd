import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { LogAdvanced } from '@flotilla/contracts/messages/log-advanced';

/** Entries as a wake-up names them, `last` being the sequence of the last one. */
export function describeAdded(entries: readonly NewLogEntry[], last: number, at: Date): LogAdvanced['entries'] {
  return entries.map(({ type, stepId }, place) => ({
    sequence: last - entries.length + place + 1,
    type,
    at: at.toISOString(),
    ...(stepId === undefined ? {} : { stepId }),
  }));
}
