import type { Change } from '@flotilla/contracts/change';
import type { Mirror } from '@flotilla/git/mirror';
import { listTree, readFileAt } from '@flotilla/git/read-tree';
import { isDependencyFile, type DependencyFile } from './domain/find-dependency-changes.ts';

const limitBytes = 64 * 1024 * 1024;

/** The files of either commit that say which packages the project needs and that differ. */
export async function readDependencyFiles(
  mirror: Mirror,
  { base, commit }: Pick<Change, 'base' | 'commit'>,
): Promise<readonly DependencyFile[]> {
  const before = await listObjects(mirror, base);
  const after = await listObjects(mirror, commit);
  const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  const read = async (at: Change['base'], path: string) =>
    (await readFileAt(mirror, { commit: at, path, limitBytes }))?.toString('utf8');
  return Promise.all(
    differing.map(async (path) => ({ path, before: await read(base, path), after: await read(commit, path) })),
  );
}

async function listObjects(mirror: Mirror, commit: Change['base']): Promise<ReadonlyMap<string, string>> {
  const entries = (await listTree(mirror, commit)).filter(({ path }) => isDependencyFile(path));
  return new Map(entries.map(({ path, objectId }) => [path, objectId]));
}
