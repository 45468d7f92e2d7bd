import { nothingSpent } from '@flotilla/contracts/allowance';
import type { CommitId, RunId, TreeId } from '@flotilla/contracts/ids';
import type { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import type { Project } from '@flotilla/contracts/project';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { type BaseStore, storeBase } from './store-base.ts';

/** A commit of a remote's branch, present and pinned on this host. */
export interface OpenedRepository {
  /** Canonical identity of the remote. */
  readonly repository: string;
  readonly branch: string;
  readonly commit: CommitId;
  readonly tree: TreeId;
  readonly files: number;
  /** Whether the files of the commit tell how they are tested. */
  tellsTests(): Promise<boolean>;
  /** The commit and its history as a git bundle. */
  createBundle(): Promise<Uint8Array>;
}

export interface Repositories {
  /** Throws the git library's errors for what cannot be cloned, is empty or has no such branch. Safe to repeat. */
  open(project: Project, branch: string | undefined, runId: RunId, signal: AbortSignal): Promise<OpenedRepository>;
}

/**
 * Resolves a run's base commit and stores it for hosts that have neither the mirror nor the credential. Throws CHECKS_NOT_FOUND
 * for a project that declares no checks, does not waive them and has none that are detected.
 */
export class OpenRepositoryHandler implements StepWork<OpenStepRequested> {
  readonly #repositories: Repositories;
  readonly #bases: BaseStore;
  readonly #clock: () => Date;

  constructor(repositories: Repositories, bases: BaseStore, clock: () => Date) {
    this.#repositories = repositories;
    this.#bases = bases;
    this.#clock = clock;
  }

  async work({ project, branch, runId }: OpenStepRequested, context: StepContext): Promise<StepAnswer> {
    const opened = await context.span('git.open', { 'flotilla.project': project.name }, () =>
      this.#repositories.open(project, branch ?? project.branch, runId, context.signal),
    );
    await refuseUncheckable(project, opened);
    const { repository, commit, tree, files } = opened;
    const bundle = await context.span('git.bundle', { 'vcs.ref.head.revision': commit }, () =>
      storeBase(this.#bases, commit, this.#clock(), () => opened.createBundle()),
    );
    return {
      outcome: {
        kind: 'done',
        result: { verb: 'open', repository, branch: opened.branch, base: commit, tree, bundle },
      },
      spent: nothingSpent,
      entries: [{ type: 'repository.opened', payload: { repository, branch: opened.branch, commit, tree, files } }],
    };
  }
}

/** Without checks nothing lands: that is told before a model is paid for. */
async function refuseUncheckable({ name, checks, unchecked }: Project, opened: OpenedRepository): Promise<void> {
  if (checks.length > 0 || unchecked || (await opened.tellsTests())) return;
  throw new FlotillaError(errors.checksNotFound, { project: name });
}
