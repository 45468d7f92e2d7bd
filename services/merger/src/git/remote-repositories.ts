import type { RunId } from '@flotilla/contracts/ids';
import type { Project } from '@flotilla/contracts/project';
import { createBundle } from '@flotilla/git/bundle';
import { ensureCommit } from '@flotilla/git/ensure-commit';
import { pinCommit } from '@flotilla/git/pin';
import { listTree, readTreeOf } from '@flotilla/git/read-tree';
import { resolveBranch } from '@flotilla/git/resolve-branch';
import type { OpenedRepository, Repositories } from '../open-repository.handler.ts';
import { openRemoteMirror, type RemoteMirrors } from './open-remote-mirror.ts';
import { tellsTests } from './tells-tests.ts';

export class RemoteRepositories implements Repositories {
  readonly #mirrors: RemoteMirrors;

  constructor(mirrors: RemoteMirrors) {
    this.#mirrors = mirrors;
  }

  async open(
    project: Project,
    wanted: string | undefined,
    runId: RunId,
    signal: AbortSignal,
  ): Promise<OpenedRepository> {
    const mirror = await openRemoteMirror(this.#mirrors, project, signal);
    const { branch, commit } = await resolveBranch(mirror, wanted);
    await ensureCommit(mirror, commit);
    await pinCommit(mirror, runId, commit);
    const files = await listTree(mirror, commit);
    return {
      repository: mirror.access.remote.canonicalId,
      branch,
      commit,
      tree: await readTreeOf(mirror, commit),
      files: files.length,
      tellsTests: () => tellsTests(mirror, commit, files),
      createBundle: () => createBundle(mirror, { commit }),
    };
  }
}
