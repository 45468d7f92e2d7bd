import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommitId } from '@flotilla/contracts/ids';
import type { Mirror } from './mirror.ts';
import { listTree } from './read-tree.ts';
import { giveTree, type Owner } from './give-tree.ts';

export interface LayRequest {
  readonly commit: CommitId;
  /** Absolute path of an existing directory without these files, which no sandbox process uses yet. It is filled in place. */
  readonly directory: string;
  /** Who owns what is laid, the directory itself too. Default: this process. Needs root when it is another user. */
  readonly owner?: Owner | undefined;
}

export interface LaidTree {
  /** Submodules are not fetched: each is an empty directory. */
  readonly submodules: readonly string[];
}

/**
 * Lays the exact tree of a commit: names and contents byte for byte, links as links, no conversion, no filter, nothing left
 * out. The index that git needs for it is private to the call.
 */
export async function layTree(mirror: Mirror, request: LayRequest): Promise<LaidTree> {
  const { commit, directory, owner } = request;
  await mirror.withScratch(async (scratch) => {
    const variables = { GIT_INDEX_FILE: join(scratch, 'index') };
    await mirror.run({ args: ['read-tree', commit], variables, timeLimitMs: 300_000 });
    await mirror.run({
      args: ['checkout-index', '--all', '--quiet'],
      variables,
      workTree: directory,
      timeLimitMs: 600_000,
    });
  });
  if (owner !== undefined) {
    await giveTree(directory, owner);
    await chown(directory, owner.uid, owner.gid);
  }
  const entries = await listTree(mirror, commit);
  return { submodules: entries.filter(({ kind }) => kind === 'submodule').map(({ path }) => path) };
}
