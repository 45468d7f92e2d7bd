import type { Clock } from './clock.ts';

/** Longer than any wait of a test: timers from here on never ring in a `hastyClock`. */
const neverMs = 1_000_000;

export const patientLimits = { firstByteMs: neverMs, idleMs: neverMs, totalMs: neverMs };

/** A clock on which waits are over at once; it keeps what was asked of it. */
export function hastyClock(nowMs = Date.parse('2026-11-30T00:00:00Z')): Clock & { readonly waits: readonly number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => nowMs,
    after(delayMs, callback) {
      if (delayMs >= neverMs) return () => undefined;
      waits.push(delayMs);
      const timer = setImmediate(callback);
      return () => clearImmediate(timer);
    },
  };
}

export const realClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
