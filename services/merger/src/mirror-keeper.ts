import type { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { maintainMirror, removeAbandonedScratch } from '@flotilla/git/maintain-mirror';
import { listMirrors, openKeptMirror, type MirrorEntry } from '@flotilla/git/mirror';
import { listPinnedRuns } from '@flotilla/git/pin';
import type { RunGit } from '@flotilla/git/run-git';
import type { StepRequest } from '@flotilla/host/step-request';
import type { StepWork } from '@flotilla/host/step-work';
import { setTimeout as wait } from 'node:timers/promises';
import { arePinsSpent, type RunEnd } from './domain/judge-pins.ts';
import { judgeUpkeep } from './domain/judge-upkeep.ts';

export interface MirrorKeeperPorts {
  readonly mirrorDirectory: string;
  readonly git: RunGit;
  /** How a run ended; undefined while it is under way, or where nobody knows it. */
  readonly endOf: (runId: RunId) => Promise<RunEnd | undefined>;
  readonly clock: () => Date;
  /** How often it looks for mirrors that are due. */
  readonly everyMs: number;
  readonly onMaintained: (mirror: string, unpinned: readonly RunId[]) => void;
  /** Told of what did not go well; the next round tries again. */
  readonly onTrouble: (mirror: string, error: unknown) => void;
}

/** Another holder of the mirror is at work, so the hour is not quiet. */
const lockWaitLimitMs = 1_000;

/** Maintains this host's mirrors, each about once a day, while no step is at work. Nothing waits for it or fails by it. */
export class MirrorKeeper {
  readonly #ports: MirrorKeeperPorts;
  readonly #stop = new AbortController();
  #atWork = 0;
  #yield = new AbortController();
  #running: Promise<void> | undefined;

  constructor(ports: MirrorKeeperPorts) {
    this.#ports = ports;
  }

  onApplicationBootstrap(): void {
    this.#running ??= this.#keepUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** The work of a step, for which maintenance that can wait makes way. */
  before<Request extends StepRequest>(step: StepWork<Request>): StepWork<Request> {
    const whileYielding = async <T>(work: () => Promise<T>): Promise<T> => {
      this.#atWork += 1;
      this.#yield.abort();
      try {
        return await work();
      } finally {
        this.#atWork -= 1;
      }
    };
    return {
      work: (request, context) => whileYielding(() => step.work(request, context)),
      findDone: (request, context) => whileYielding(async () => step.findDone?.(request, context)),
    };
  }

  /** One round. Never throws. */
  async keep(): Promise<void> {
    const { mirrorDirectory, clock, onTrouble } = this.#ports;
    try {
      const mirrors = await listMirrors(mirrorDirectory);
      for (const mirror of mirrors) await this.#keepMirror(mirror);
      await removeAbandonedScratch(mirrorDirectory, clock());
    } catch (error) {
      onTrouble('all', error);
    }
  }

  async #keepMirror({ key, maintainedAt }: MirrorEntry): Promise<void> {
    const { mirrorDirectory: cacheDirectory, git, clock, onMaintained, onTrouble } = this.#ports;
    const upkeep = judgeUpkeep(maintainedAt, clock());
    if (this.#stop.signal.aborted || upkeep === 'not_due' || (upkeep === 'when_quiet' && this.#atWork > 0)) return;
    this.#yield = new AbortController();
    const stops = upkeep === 'now' ? [this.#stop.signal] : [this.#stop.signal, this.#yield.signal];
    const signal = AbortSignal.any(stops);
    try {
      const mirror = openKeptMirror({ cacheDirectory, key, git, lockWaitLimitMs, signal });
      const spent = await this.#findSpent(await listPinnedRuns(mirror));
      await maintainMirror(mirror, spent, clock());
      onMaintained(key, spent);
    } catch (error) {
      const later = signal.aborted || (error instanceof FlotillaError && error.is(errors.mirrorBusy));
      if (!later) onTrouble(key, error);
    }
  }

  async #findSpent(runIds: readonly RunId[]): Promise<readonly RunId[]> {
    const { endOf, clock } = this.#ports;
    const spent: RunId[] = [];
    for (const runId of runIds) if (arePinsSpent(await endOf(runId), clock())) spent.push(runId);
    return spent;
  }

  async #keepUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await wait(this.#ports.everyMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.keep();
    }
  }
}
