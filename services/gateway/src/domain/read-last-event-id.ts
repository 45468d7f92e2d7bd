import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/**
 * Where a stream goes on: the header Last-Event-ID, else `after`, else the start. A sequence that the log does not have yet
 * is somebody else's and is refused. Throws LAST_EVENT_ID_INVALID.
 */
export function readLastEventId(header: string | undefined, after: number | undefined, last: number): number {
  if (header === undefined || header === '') return within(after ?? 0, last);
  if (!/^\d{1,15}$/.test(header)) throw refused(header, last);
  return within(Number(header), last);
}

function within(value: number, last: number): number {
  if (value > last) throw refused(String(value), last);
  return value;
}

function refused(value: string, last: number): FlotillaError {
  return new FlotillaError(errors.lastEventIdInvalid, { value: JSON.stringify(value.slice(0, 64)), last });
}
