/**
 * How long a provider asks us to wait, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.
 * Undefined when it does not say or what it says is not readable; a date in the past is 0.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const exact = readNumber(headers['retry-after-ms']);
  if (exact !== undefined) return exact;
  const text = headers['retry-after']?.trim();
  const seconds = readNumber(text);
  if (seconds !== undefined) return seconds * 1000;
  // Only a date with letters: Date.parse takes many things for dates, such as "-5".
  if (text === undefined || !/[a-z]{3}/i.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
