import type { Change } from '@flotilla/contracts/change';
import type { CommitId } from '@flotilla/contracts/ids';
import type { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { parseBranchName } from '@flotilla/git/branch-name';
import { createBundle } from '@flotilla/git/bundle';
import { diffCommits } from '@flotilla/git/diff';
import { ensureCommit } from '@flotilla/git/ensure-commit';
import { mergeLeaseKey, pushCommit } from '@flotilla/git/landing';
import type { Mirror } from '@flotilla/git/mirror';
import { pinCommit } from '@flotilla/git/pin';
import { readTreeOf } from '@flotilla/git/read-tree';
import type { LandingFacts } from '../domain/decide-landing.ts';
import type { LandedCommit, LandingTarget, LandingTargets, Pushed } from '../land-change.handler.ts';
import { type BaseStore, storeBase } from '../store-base.ts';
import { openRemoteMirror, type RemoteMirrors } from './open-remote-mirror.ts';
import { readLandingFacts } from './read-landing-facts.ts';
import { readParents } from './read-parents.ts';

export interface CandidateStore extends BaseStore {
  has(name: string): Promise<boolean>;
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array>;
}

export interface RemoteTargetsOptions {
  readonly mirrors: RemoteMirrors;
  readonly bundles: CandidateStore;
  readonly clock: () => Date;
}

const diffLimitBytes = 512 * 1024;

export class RemoteTargets implements LandingTargets {
  readonly #options: RemoteTargetsOptions;

  constructor(options: RemoteTargetsOptions) {
    this.#options = options;
  }

  /**
   * Brings the approved commit and the candidate here and pins them before anybody waits for the lease. The target itself is not cut
   * short by the step's signal: a push that was begun is seen to its end, or its outcome would be anybody's guess.
   */
  async open(request: LandStepRequested, signal: AbortSignal): Promise<LandingTarget> {
    const { mirrors, bundles, clock } = this.#options;
    const mirror = await openRemoteMirror(mirrors, request.project, signal);
    const { base, approved, candidate, runId } = request;
    await ensureCommit(mirror, base.commit, { loadBundle: () => findBundle(bundles, base.bundle) });
    for (const { commit, bundle } of [approved, ...(candidate === undefined ? [] : [candidate])]) {
      await ensureCommit(mirror, commit, { first: 'bundle', loadBundle: () => findBundle(bundles, bundle) });
      await pinCommit(mirror, runId, commit);
    }
    return new RemoteTarget(await openRemoteMirror(mirrors, request.project), request, bundles, clock);
  }
}

async function findBundle(bundles: CandidateStore, name: string): Promise<Uint8Array | undefined> {
  return (await bundles.has(name)) ? bundles.get(name) : undefined;
}

class RemoteTarget implements LandingTarget {
  readonly lane: string;
  readonly #mirror: Mirror;
  readonly #request: LandStepRequested;
  readonly #bundles: CandidateStore;
  readonly #clock: () => Date;

  constructor(mirror: Mirror, request: LandStepRequested, bundles: CandidateStore, clock: () => Date) {
    this.#mirror = mirror;
    this.#request = request;
    this.#bundles = bundles;
    this.#clock = clock;
    this.lane = mergeLeaseKey(mirror.access.remote.canonicalId, parseBranchName(request.branch));
  }

  readFacts(): Promise<LandingFacts> {
    return readLandingFacts(this.#mirror, this.#request, this.#clock());
  }

  async push(commit: CommitId, expectedOld: CommitId): Promise<Pushed> {
    const { branch } = this.#request;
    const push = await pushCommit(this.#mirror, { commit, branch, expectedOld });
    switch (push.kind) {
      case 'landed':
        return { kind: 'landed', tree: push.tree };
      case 'moved':
        return { kind: 'moved' };
      case 'refused':
        throw new FlotillaError(errors.pushRefused, {
          branch,
          reason: push.text,
          hint: push.advice.replace(/\.$/, ''),
        });
    }
  }

  async describe(commit: CommitId): Promise<LandedCommit> {
    const [previous = commit] = await readParents(this.#mirror, commit);
    const tree = await readTreeOf(this.#mirror, commit);
    const { text, truncated } = await diffCommits(this.#mirror, previous, commit, { limitBytes: diffLimitBytes });
    return { commit, tree, previous, diff: text, diffTruncated: truncated };
  }

  /** The bundle holds everything since the run's base, which every worker has: also what others landed meanwhile. */
  async keepCandidate({ commit, bundle }: Change): Promise<string> {
    if (commit === this.#request.approved.commit) return this.#request.approved.bundle;
    await this.#bundles.put(bundle, await createBundle(this.#mirror, { commit, exclude: [this.#request.base.commit] }));
    return bundle;
  }

  async keepHead(head: CommitId): Promise<string> {
    await pinCommit(this.#mirror, this.#request.runId, head);
    return storeBase(this.#bundles, head, this.#clock(), () => createBundle(this.#mirror, { commit: head }));
  }
}
