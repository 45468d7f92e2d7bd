import type { CommitId, RunId, StepId } from '@flotilla/contracts/ids';
import { layTree } from '@flotilla/git/lay-tree';
import type { Mirror } from '@flotilla/git/mirror';
import type { RunGit } from '@flotilla/git/run-git';
import { makeThrowAwayRepository } from '@flotilla/git/throw-away-repository';
import type { StepContext } from '@flotilla/host/step-work';
import type { DoorGrant } from '@flotilla/sandbox/door';
import type { Slot } from '@flotilla/sandbox/slot';
import type { SlotPool } from '@flotilla/sandbox/slot-pool';
import {
  ensureStoredCommits,
  openStoredMirror,
  type BundleSource,
  type StoredCommit,
} from '@flotilla/git/stored-commits';

/** The dependencies that a project's setup left, kept under its key. */
export interface SetupFiles {
  /** Lays what is kept under the key into the slot's workspace: files that the project ignores, so no part of a change. */
  lay(key: string, slot: Slot): Promise<unknown>;
}

export interface WorkplacesOptions {
  readonly git: RunGit;
  readonly mirrorDirectory: string;
  readonly bundles: BundleSource;
  readonly pool: Pick<SlotPool, 'claim'>;
  readonly setups: SetupFiles;
  /** Ends whatever an earlier delivery of this step left running on this host; the step's lease says that it is dead. */
  readonly removeEarlier: (step: StepOccasion) => Promise<void>;
}

/** Which attempt a workplace is for. */
export interface StepOccasion {
  readonly runId: RunId;
  readonly stepId: StepId;
  readonly attempt: number;
}

export interface WorkplaceRequest {
  readonly step: StepOccasion;
  /** Canonical identity of the remote. */
  readonly repository: string;
  /** Made present in this order; a bundle may build on the commits before it. */
  readonly commits: readonly StoredCommit[];
  /** Whose tree is laid. */
  readonly lay: CommitId;
  /** What `git diff` in the slot compares with. Default: what is laid. */
  readonly head?: CommitId;
  /** Null where the project has no setup, or before there is one. */
  readonly setupKey: string | null;
  /** Default: no way out. */
  readonly door?: DoorGrant;
}

/** A slot with a tree and its setup. Disposing it destroys the slot. */
export interface Workplace extends AsyncDisposable {
  readonly slot: Slot;
  readonly mirror: Mirror;
  /** Directories of the workspace that commands look in before the system's, such as a virtual environment's. */
  readonly commandPath: readonly string[];
}

/** Where a setup may have put programs. */
const programDirectories = ['.venv/bin'];

/** Makes workplaces, each for one attempt. */
export class Workplaces {
  readonly #options: WorkplacesOptions;

  constructor(options: WorkplacesOptions) {
    this.#options = options;
  }

  /** Throws the git library's errors for what is not there, and slotsExhausted and dockerUnavailable, which are waited out. */
  async prepare(request: WorkplaceRequest, context: Pick<StepContext, 'signal' | 'span'>): Promise<Workplace> {
    const { runId, stepId, attempt } = request.step;
    const mirror = await context.span('git.ensure', { 'flotilla.repository': request.repository }, () =>
      this.openCommits(request, context.signal),
    );
    await this.#options.removeEarlier(request.step);
    const claim = { run: runId, step: stepId, attempt, signal: context.signal };
    const slot = await context.span('slot.claim', {}, () =>
      this.#options.pool.claim({ ...claim, ...(request.door === undefined ? {} : { door: request.door }) }),
    );
    try {
      await context.span('slot.lay', { 'flotilla.slot': slot.id }, () =>
        this.#lay(slot, mirror, request).finally(() => slot.refuseWhenLost()),
      );
      const commandPath = request.setupKey === null ? [] : programDirectories.filter((name) => isDirectory(slot, name));
      return { slot, mirror, commandPath, [Symbol.asyncDispose]: () => slot.destroy() };
    } catch (error) {
      // What cannot be removed now is the reaper's; the error that led here is the one to hear of.
      await slot.destroy().catch(() => undefined);
      throw error;
    }
  }

  /**
   * This host's mirror with the commits in it. Fetching ends with the step; what is done with the mirror later does not, so
   * that a cancelled step can still keep its workspace.
   */
  async openCommits(
    { repository, commits }: Pick<WorkplaceRequest, 'repository' | 'commits'>,
    signal: AbortSignal,
  ): Promise<Mirror> {
    const { git, mirrorDirectory, bundles } = this.#options;
    await ensureStoredCommits(await openStoredMirror({ git, mirrorDirectory, repository, signal }), bundles, commits);
    return openStoredMirror({ git, mirrorDirectory, repository });
  }

  async #lay(slot: Slot, mirror: Mirror, { lay, head = lay, setupKey }: WorkplaceRequest): Promise<void> {
    const owner = slot.user;
    await layTree(mirror, { commit: lay, directory: slot.directory, owner });
    if (setupKey !== null) await this.#options.setups.lay(setupKey, slot);
    await makeThrowAwayRepository(mirror, { commit: head, directory: slot.directory, owner });
  }
}

function isDirectory(slot: Slot, path: string): boolean {
  return slot.files.stat(path)?.kind === 'directory';
}
