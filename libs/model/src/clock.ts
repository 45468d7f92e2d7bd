/** Time as a value. `after` calls back once, unless the function it returned was called before. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  after(delayMs: number, callback: () => void): () => void;
}

/** Resolves after the delay; rejects with the signal's reason when that aborts first. */
export function waitFor(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(toError(signal.reason));
    let cancel = (): void => undefined;
    const onAbort = () => {
      cancel();
      reject(toError(signal?.reason));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    cancel = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}

/** Abort reasons may be anything; what is thrown is an Error. */
export function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
