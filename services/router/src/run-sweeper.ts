import { setTimeout as wait } from 'node:timers/promises';
import type { RunStore } from './store/run.store.ts';
import type { SweepStore } from './store/sweep.store.ts';

export interface SweeperOptions {
  readonly runs: Pick<RunStore, 'endCancelled' | 'passDeadline' | 'grantTurn'>;
  readonly sweeps: SweepStore;
  readonly everyMs: number;
  /** Told of what did not go well; the next sweep finds it again. */
  readonly onTrouble: (task: string, error: unknown) => void;
}

/** Finds what nobody did: steps without an answer, cancelled and overdue runs, turns that were not passed on. Several may sweep at once. */
export class RunSweeper {
  readonly #options: SweeperOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  onApplicationBootstrap(): void {
    this.#running ??= this.#sweepUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** One round. Never throws. */
  async sweep(): Promise<void> {
    const { runs, sweeps, onTrouble } = this.#options;
    const attempt = async (task: string, work: () => Promise<unknown>) => {
      try {
        await work();
      } catch (error) {
        onTrouble(task, error);
      }
    };
    await attempt('find_due', async () => {
      const due = await sweeps.findDue();
      for (const runId of due.cancelled) await attempt('end_cancelled', () => runs.endCancelled(runId));
      for (const runId of due.overdue) await attempt('pass_deadline', () => runs.passDeadline(runId));
      for (const lane of due.freeLanes) await attempt('grant_turn', () => runs.grantTurn(lane));
      for (const runId of due.unanswered) await attempt('request_again', () => sweeps.requestAgain(runId));
    });
  }

  async #sweepUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.sweep();
      await wait(this.#options.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
