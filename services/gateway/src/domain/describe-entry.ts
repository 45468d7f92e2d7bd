import type { LogEvent } from '@flotilla/contracts/calls/log-event';
import type { LogEntry } from '@flotilla/contracts/log-entry';

/** An entry as clients read it. */
export function describeEntry({ trace, payload, ...entry }: LogEntry): LogEvent {
  const traceId = traceIdOf(trace?.traceparent);
  return { ...entry, payload: payload ?? null, ...(traceId === undefined ? {} : { traceId }) };
}

/** The trace id inside a W3C traceparent. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent ?? '')?.[1];
}
