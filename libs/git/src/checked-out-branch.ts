import { readFile, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Remote } from './remote.ts';
import type { RunGit } from './run-git.ts';

/**
 * Whether a local remote has a branch checked out and refuses pushes to it, as git does unless the repository says otherwise. Reads its
 * files alone, and nothing that its configuration includes; false of every other remote, and where that cannot be read.
 */
export async function refusesAsCheckedOut(git: RunGit, remote: Remote, branch: string): Promise<boolean> {
  if (remote.kind !== 'local' || !(await isDirectory(remote.url))) return false;
  const config = join(remote.url, 'config');
  const read = async (key: string, ...type: readonly string[]): Promise<string> => {
    const args = ['config', '--file', config, '--no-includes', ...type, '--get', key];
    return (await git({ args, accept: 'any' })).stdout.toString('utf8').trim().toLowerCase();
  };
  const heads = await findHeads(remote.url, await read('core.bare', '--type=bool'));
  const checkedOut = await Promise.all(heads.map((head) => readBranch(head)));
  if (!checkedOut.includes(branch)) return false;
  return !allows.has(await read('receive.denyCurrentBranch'));
}

/** What lets a push in; anything else refuses it. */
const allows: ReadonlySet<string> = new Set(['updateinstead', 'ignore', 'warn', 'false', 'no', 'off', '0']);

/** HEAD of the repository's own work tree, where it has one, and of the work trees that are linked to it. */
async function findHeads(directory: string, bare: string): Promise<readonly string[]> {
  const own = bare === 'false' || (bare === '' && basename(directory) === '.git') ? [join(directory, 'HEAD')] : [];
  const linked = await readdir(join(directory, 'worktrees')).catch(() => []);
  return [...own, ...linked.map((name) => join(directory, 'worktrees', name, 'HEAD'))];
}

async function readBranch(head: string): Promise<string | undefined> {
  const isFile = await stat(head).then(
    (facts) => facts.isFile() && facts.size < 4096,
    () => false,
  );
  const text = isFile ? await readFile(head, 'utf8').catch(() => '') : '';
  return /^ref: refs\/heads\/(.+?)\s*$/.exec(text)?.[1];
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
