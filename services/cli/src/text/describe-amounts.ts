import type { Spending } from '@flotilla/contracts/calls/shapes';

/** `0.4 s`, `31 s`, `2 min 5 s`, `3 h 12 min`. */
export function describeDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Time between two moments in ISO 8601. */
export function describeSpan(from: string, to: string): string {
  return describeDuration(Math.max(0, Date.parse(to) - Date.parse(from)));
}

/** Whole thousands once there are ten of them. */
export function describeCount(count: number): string {
  return count < 10_000 ? String(count) : `${Math.round(count / 1000)}k`;
}

/** An unknown price is said to be unknown, never nothing. */
export function describeCost(microdollars: number | null): string {
  if (microdollars === null) return 'cost unknown';
  return `$${(microdollars / 1_000_000).toFixed(microdollars > 0 && microdollars < 10_000 ? 4 : 2)}`;
}

export function describeSpending({ turns, calls, tokens, microdollars }: Spending): string {
  return [
    `${turns} ${turns === 1 ? 'turn' : 'turns'}`,
    `${calls} ${calls === 1 ? 'call' : 'calls'}`,
    `${describeCount(tokens)} tokens`,
    describeCost(microdollars),
  ].join(', ');
}
