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

/** A clock that goes on by a tenth of a second whenever a wait of `lifeMs` begins, and never by itself. */
export function clockOfLife(lifeMs: number): Clock {
  let nowMs = 0;
  const waits = new Set<{ readonly endsMs: number; readonly callback: () => void }>();
  return {
    now: () => nowMs,
    after(delayMs, callback) {
      const wait = { endsMs: nowMs + delayMs, callback };
      waits.add(wait);
      if (delayMs === lifeMs) nowMs += 100;
      for (const due of [...waits].filter(({ endsMs }) => endsMs <= nowMs)) if (waits.delete(due)) due.callback();
      return () => void waits.delete(wait);
    },
  };
}
