import type { WatchEvent } from '@flotilla/contracts/calls/watch-run';

/**
 * One server-sent event. Its data is one line of JSON, so that nothing inside can end the frame or begin another: JSON
 * escapes CR and LF, and the two line separators that JSON allows bare are escaped here.
 */
export function frameEvent(event: WatchEvent): string {
  const id = event.event === 'entry' ? `id: ${event.entry.sequence}\n` : '';
  const data = JSON.stringify(event).replace(/[\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
  return `${id}event: ${event.event}\ndata: ${data}\n\n`;
}

/** A comment: keeps the connection open and shows when it broke. */
export const HEARTBEAT_FRAME = ': still here\n\n';
