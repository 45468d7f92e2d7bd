import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import type { RequestOf, ResponseOf } from '@flotilla/contracts/define-call';
import type { Project } from '@flotilla/contracts/project';
import type { BranchName } from '@flotilla/git/branch-name';
import { refusesAsCheckedOut } from '@flotilla/git/checked-out-branch';
import { listTree } from '@flotilla/git/read-tree';
import { takeTree } from '@flotilla/git/take-tree';
import { resolveBranch } from '@flotilla/git/resolve-branch';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { openRemoteMirror, type RemoteMirrors } from './open-remote-mirror.ts';
import { tellsTests } from './tells-tests.ts';

/** A remote that has said nothing for so long is not there for whoever waits; below the call's own limit. */
const patienceMs = 12_000;

/** A large tree is not waited for: a run that opens it tells the same. */
const testsPatienceMs = 6_000;

/** Asks remotes what they have, and leaves nothing behind. */
export class RemoteInspector {
  readonly #mirrors: RemoteMirrors;
  readonly #patienceMs: number;

  constructor(mirrors: RemoteMirrors, patience = patienceMs) {
    this.#mirrors = mirrors;
    this.#patienceMs = patience;
  }

  /** Throws the errors that opening the repository would: what cannot be reached or read, is empty or has no such branch. */
  async inspect({
    remote,
    credential,
    branch,
    lookForTests,
  }: RequestOf<typeof InspectRemote>): Promise<ResponseOf<typeof InspectRemote>> {
    const { mirrorDirectory } = this.#mirrors;
    await mkdir(mirrorDirectory, { recursive: true, mode: 0o700 });
    const scratch = await mkdtemp(join(mirrorDirectory, 'inspect-'));
    const patience = AbortSignal.timeout(this.#patienceMs);
    try {
      const mirror = await openRemoteMirror(
        { ...this.#mirrors, mirrorDirectory: scratch },
        { remote, credential },
        patience,
      );
      const found = await resolveBranch(mirror, branch);
      const { remote: asked } = mirror.access;
      return {
        repository: asked.canonicalId,
        branch: found.branch,
        commit: found.commit,
        checkedOut: await refusesAsCheckedOut(this.#mirrors.git, asked, found.branch),
        ...(lookForTests ? { tests: await this.#lookForTests(scratch, { remote, credential }, found.branch) } : {}),
      };
    } catch (error) {
      if (!patience.aborted) throw error;
      const reason = `it said nothing for ${this.#patienceMs / 1000} s`;
      throw new FlotillaError(errors.remoteUnreachable, { remote, reason }, { cause: error });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  /** Whatever keeps the tree from coming in time, the branch is there. */
  async #lookForTests(scratch: string, project: Pick<Project, 'remote' | 'credential'>, branch: BranchName) {
    try {
      const signal = AbortSignal.timeout(testsPatienceMs);
      const mirror = await openRemoteMirror({ ...this.#mirrors, mirrorDirectory: scratch }, project, signal);
      const commit = await takeTree(mirror, branch);
      return (await tellsTests(mirror, commit, await listTree(mirror, commit))) ? 'detected' : 'none';
    } catch {
      return undefined;
    }
  }
}
