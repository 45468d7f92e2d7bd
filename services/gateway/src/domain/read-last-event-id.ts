import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/**
 * Where a stream goes on: the header Last-Event-ID, else `after`, else the start. A sequence that the log does not have yet
 * is somebody else's and is refused. Throws LAST_EVENT_ID_INVALID, or REQUEST_INVALID for `after`.
 */
export function readLastEventId(header: string | undefined, after: number | undefined, last: number): number {
  if (header === undefined || header === '') return withinLog(after ?? 0, last);
  if (/^\d{1,15}$/.test(header) && Number(header) <= last) return Number(header);
  throw new FlotillaError(errors.lastEventIdInvalid, { value: JSON.stringify(header.slice(0, 64)), last });
}

function withinLog(after: number, last: number): number {
  if (after <= last) return after;
  const message = `the log of this run ends at ${last}, and ${after} comes after it`;
  const violations = [{ path: 'after', message }];
  throw new FlotillaError(errors.requestInvalid, { call: 'watchRun', reason: `after: ${message}`, violations });
}
