import type { Change } from '@flotilla/contracts/change';
import type { Mirror } from '@flotilla/git/mirror';
import { listTree, readFileAt } from '@flotilla/git/read-tree';
import { isDependencyFile, type DependencyFile } from './domain/find-dependency-changes.ts';

const limitBytes = 64 * 1024 * 1024;
const mostFiles = 100;

/** The files of either commit that say which packages the project needs and that differ; a hundred at most, one after the other. */
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
  const files: DependencyFile[] = [];
  for (const path of differing.slice(0, mostFiles))
    files.push({ path, before: await read(base, path), after: await read(commit, path) });
  return files;
}

async function listObjects(mirror: Mirror, commit: Change['base']): Promise<ReadonlyMap<string, string>> {
  const entries = (await listTree(mirror, commit)).filter(({ path }) => isDependencyFile(path));
  return new Map(entries.map(({ path, objectId }) => [path, objectId]));
}
