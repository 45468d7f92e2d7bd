import type { SetupStore } from '@flotilla/sandbox/setup-store';
import type { Store } from '@flotilla/store/store';
import { setTimeout as wait } from 'node:timers/promises';

export interface SetupKeeperOptions {
  readonly setups: Pick<SetupStore, 'evict'>;
  readonly store: Pick<Store, 'query'>;
  readonly keptDays: number;
  readonly limitGb: number;
  readonly everyMs: number;
  readonly onEvicted: (keys: readonly string[]) => void;
  /** Told of what did not go well; the next round tries again. */
  readonly onTrouble: (error: unknown) => void;
}

const dayMs = 24 * 3600 * 1000;
const gibibyte = 1024 ** 3;

/** Removes this host's setups that no run under way needs: those not used for long, and those that there is no room for. */
export class SetupKeeper {
  readonly #options: SetupKeeperOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SetupKeeperOptions) {
    this.#options = options;
  }

  onApplicationBootstrap(): void {
    this.#running ??= this.#keepUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** One round. Never throws. */
  async keep(): Promise<void> {
    const { setups, keptDays, limitGb, onEvicted, onTrouble } = this.#options;
    try {
      const limits = { keptMs: keptDays * dayMs, limitBytes: limitGb * gibibyte };
      const evicted = await setups.evict(limits, (key) => this.#isNeeded(key));
      if (evicted.length > 0) onEvicted(evicted);
    } catch (error) {
      onTrouble(error);
    }
  }

  async #isNeeded(key: string): Promise<boolean> {
    const rows = await this.#options.store.query('select 1 from published.setup_in_use where key = $1 limit 1', [key]);
    return rows.length > 0;
  }

  async #keepUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await wait(this.#options.everyMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.keep();
    }
  }
}
