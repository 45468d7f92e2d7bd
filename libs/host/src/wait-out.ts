import { setTimeout as wait } from 'node:timers/promises';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface WaitOutOptions {
  readonly limitMs: number;
  readonly signal: AbortSignal;
  readonly monotonicMs: () => number;
  /** Told once for each thing that is waited for, by its code. */
  readonly onWait: (error: FlotillaError) => void;
}

const retryMs = 300;

/** Repeats work while it throws errors with remedy `wait`, and throws the last one when the limit has passed. */
export async function waitOut<T>(
  work: () => Promise<T>,
  { limitMs, signal, monotonicMs, onWait }: WaitOutOptions,
): Promise<T> {
  const deadline = monotonicMs() + limitMs;
  let told: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof FlotillaError) || error.remedy !== 'wait' || monotonicMs() >= deadline) throw error;
      if (error.code !== told) onWait(error);
      told = error.code;
    }
    await wait(retryMs, undefined, { signal });
  }
}
