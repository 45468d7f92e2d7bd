import { setTimeout as wait } from 'node:timers/promises';
import type { RunId } from '@flotilla/contracts/ids';
import { archiveBefore } from '../domain/judge-archive.ts';
import type { ArchiveStore } from '../store/archive.store.ts';
import type { RunArchiver } from './run-archiver.ts';

export interface ArchiveSweeperOptions {
  readonly archives: Pick<ArchiveStore, 'findDue' | 'findLeftovers'>;
  readonly archiver: Pick<RunArchiver, 'archive' | 'removeObjects'>;
  /** Removes what no run needs from the buckets; once a day. */
  readonly cleanBuckets: () => Promise<void>;
  /** Undefined: nothing is archived by its age. */
  readonly afterDays: number | undefined;
  readonly clock: () => Date;
  /** How long it is between two looks. */
  readonly everyMs: number;
  /** How long it is between two runs, so that archiving is never what the servers are busy with. */
  readonly betweenMs: number;
  /** Runs the work while no other router does it; undefined where one does. */
  readonly alone: <T>(key: string, work: () => Promise<T>) => Promise<T | undefined>;
  readonly onArchived: (runId: RunId, file: string) => void;
  /** Told of what did not go well; of one run it is tried again a day later, anything else at the next look. */
  readonly onTrouble: (task: string, error: unknown) => void;
}

type RunTask = 'archive_run' | 'remove_objects';

const atOnce = 100;
const dayMs = 24 * 3600 * 1000;

/** Archives runs by their age, in one router at a time and one run after another, and finishes what others left half done. */
export class ArchiveSweeper {
  readonly #options: ArchiveSweeperOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #cleanedAt = 0;
  /** When what could not be done for a run was tried. */
  readonly #failed = { archive_run: new Map<RunId, number>(), remove_objects: new Map<RunId, number>() };

  constructor(options: ArchiveSweeperOptions) {
    this.#options = options;
  }

  onApplicationBootstrap(): void {
    this.#running ??= this.#sweepUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** One round: a hundred runs at most, and true where more may be due. Never throws. */
  async sweep(): Promise<boolean> {
    try {
      return (await this.#options.alone('archive', () => this.#sweepAlone())) ?? false;
    } catch (error) {
      this.#options.onTrouble('archive', error);
      return false;
    }
  }

  async #sweepAlone(): Promise<boolean> {
    const { archives, archiver, afterDays, clock, onArchived, cleanBuckets } = this.#options;
    for (const runId of await archives.findLeftovers(atOnce, this.#setAside('remove_objects')))
      await this.#attemptRun('remove_objects', runId, () => archiver.removeObjects(runId));
    const due =
      afterDays === undefined
        ? []
        : await archives.findDue(archiveBefore(clock(), afterDays), atOnce, this.#setAside('archive_run'));
    let archived = 0;
    for (const runId of due) {
      if (this.#stop.signal.aborted) return false;
      await this.#attemptRun('archive_run', runId, async () => {
        onArchived(runId, (await archiver.archive(runId)).file);
        archived += 1;
      });
      await this.#wait(this.#options.betweenMs);
    }
    if (clock().getTime() - this.#cleanedAt >= dayMs) {
      await this.#attempt('clean_buckets', cleanBuckets);
      this.#cleanedAt = clock().getTime();
    }
    // Runs that cannot be archived do not make it go round in haste.
    return archived > 0 && due.length === atOnce;
  }

  async #attempt(task: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#options.onTrouble(task, error);
      return false;
    }
  }

  async #attemptRun(task: RunTask, runId: RunId, work: () => Promise<void>): Promise<void> {
    if (!(await this.#attempt(task, work))) this.#failed[task].set(runId, this.#options.clock().getTime());
  }

  /** Runs for which it failed today: a hundred of them would keep all others from their turn. */
  #setAside(task: RunTask): readonly RunId[] {
    const failed = this.#failed[task];
    const now = this.#options.clock().getTime();
    for (const [runId, at] of failed) if (now - at >= dayMs) failed.delete(runId);
    return [...failed.keys()];
  }

  async #sweepUntilStopped(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (!(await this.sweep())) await this.#wait(this.#options.everyMs);
    }
  }

  async #wait(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}
