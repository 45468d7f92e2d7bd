import { detectTests, wantedFiles } from '@flotilla/agent/detect-tests';
import type { CommitId, RunId } from '@flotilla/contracts/ids';
import type { Project } from '@flotilla/contracts/project';
import { createBundle } from '@flotilla/git/bundle';
import { ensureCommit } from '@flotilla/git/ensure-commit';
import type { Mirror } from '@flotilla/git/mirror';
import { pinCommit } from '@flotilla/git/pin';
import { listTree, readFileAt, readTreeOf, type TreeEntry } from '@flotilla/git/read-tree';
import { resolveBranch } from '@flotilla/git/resolve-branch';
import type { OpenedRepository, Repositories } from '../open-repository.handler.ts';
import { openRemoteMirror, type RemoteMirrors } from './open-remote-mirror.ts';

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

const limitBytes = 512 * 1024;
const deepest = 3;

/** As the checks will look for them: in files at the root and up to two levels below. */
async function tellsTests(mirror: Mirror, commit: CommitId, tree: readonly TreeEntry[]): Promise<boolean> {
  const paths = tree.map(({ path }) => path).filter((path) => path.split('/').length <= deepest);
  const texts: Record<string, string> = {};
  for (const { path, sizeBytes } of tree) {
    if (!wantedFiles.some((wanted) => wanted === path) || (sizeBytes ?? limitBytes) >= limitBytes) continue;
    const bytes = await readFileAt(mirror, { commit, path, limitBytes });
    if (bytes !== undefined) texts[path] = bytes.toString('utf8');
  }
  return detectTests({ files: paths, texts }) !== undefined;
}
