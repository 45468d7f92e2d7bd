import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { toError, type Clock } from './clock.ts';

export interface TimeLimits {
  /** Until the first byte of the answer: a model on a small machine reads a long conversation first. Default 300,000. */
  readonly firstByteMs: number;
  /** Between any two bytes after it: some providers are silent while a model thinks. Default 180,000. */
  readonly idleMs: number;
  /** For one attempt in all. Default 900,000. */
  readonly totalMs: number;
}

export const defaultTimeLimits: TimeLimits = { firstByteMs: 300_000, idleMs: 180_000, totalMs: 900_000 };

export interface Deadlines {
  /** Aborts when a limit passes or the caller's signal aborts. */
  readonly signal: AbortSignal;
  /** Something arrived. */
  touch(): void;
  /** The promise, or the reason of the abort as soon as that comes, whatever the promise does then. */
  guard<Value>(promise: Promise<Value>): Promise<Value>;
  stop(): void;
}

/** Watches one attempt of a call. */
export function startDeadlines(
  provider: string,
  limits: TimeLimits,
  clock: Clock,
  outer: AbortSignal | undefined,
): Deadlines {
  const controller = new AbortController();
  const expire = (phase: string, limitMs: number) =>
    clock.after(limitMs, () => controller.abort(new FlotillaError(errors.modelTimedOut, { provider, phase, limitMs })));
  const onOuterAbort = () => controller.abort(toError(outer?.reason));
  const cancelTotal = expire('total', limits.totalMs);
  let cancelIdle = expire('first byte', limits.firstByteMs);
  if (outer?.aborted) onOuterAbort();
  outer?.addEventListener('abort', onOuterAbort, { once: true });
  return {
    signal: controller.signal,
    touch() {
      cancelIdle();
      cancelIdle = controller.signal.aborted ? () => undefined : expire('idle', limits.idleMs);
    },
    guard: (promise) => orAbort(promise, controller.signal),
    stop() {
      cancelTotal();
      cancelIdle();
      outer?.removeEventListener('abort', onOuterAbort);
    },
  };
}

function orAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(toError(signal.reason));
    if (signal.aborted) {
      promise.catch(() => undefined);
      return onAbort();
    }
    signal.addEventListener('abort', onAbort, { once: true });
    // The SDK reports an abort as its own failure: the signal is asked first.
    const settle = (settled: () => void) => {
      signal.removeEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      else settled();
    };
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(toError(error))),
    );
  });
}
