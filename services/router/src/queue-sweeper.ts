import { setTimeout as wait } from 'node:timers/promises';

export interface QueueSweeperOptions {
  /** Removes what was acknowledged, and answers how much. */
  readonly purge: () => Promise<number>;
  /** Calls the listener each time the broker is back. Returns how to stop. */
  readonly onReconnect: (listener: () => void) => () => void;
  readonly everyMs: number;
  readonly onPurged: (messages: number) => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Keeps acknowledged messages out of the work queues: now and then, and whenever the broker, which may have been killed, is back. */
export class QueueSweeper {
  readonly #options: QueueSweeperOptions;
  readonly #stop = new AbortController();
  #pause = new AbortController();
  #running: Promise<void> | undefined;
  #forget: (() => void) | undefined;

  constructor(options: QueueSweeperOptions) {
    this.#options = options;
  }

  onApplicationBootstrap(): void {
    this.#forget ??= this.#options.onReconnect(() => this.#pause.abort());
    this.#running ??= this.#sweepUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#forget?.();
    this.#stop.abort();
    await this.#running;
  }

  async #sweepUntilStopped(): Promise<void> {
    const { purge, everyMs, onPurged, onTrouble } = this.#options;
    while (!this.#stop.signal.aborted) {
      this.#pause = new AbortController();
      try {
        const purged = await purge();
        if (purged > 0) onPurged(purged);
      } catch (error) {
        onTrouble(error);
      }
      const signal = AbortSignal.any([this.#stop.signal, this.#pause.signal]);
      await wait(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
