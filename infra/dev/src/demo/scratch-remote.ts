import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lastWords, runCommand } from '../run-command.ts';

export interface Defect {
  readonly path: string;
  readonly sound: string;
  readonly broken: string;
}

const identity = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

export const scratchBranch = 'main';

/** Puts the defect into its file; throws when the sound text is not there exactly once. */
export async function plantDefect(directory: string, defect: Defect): Promise<void> {
  const path = join(directory, defect.path);
  const parts = (await readFile(path, 'utf8')).split(defect.sound);
  if (parts.length !== 2) throw new Error(`${defect.path} holds "${defect.sound}" ${parts.length - 1} times`);
  await writeFile(path, parts.join(defect.broken));
}

/** Commits everything in `source` and clones it as a bare repository to `remote`. */
export async function publishScratchRemote(source: string, remote: string, message: string): Promise<void> {
  await mkdir(source, { recursive: true });
  await scratchGit(source, ['init', '--quiet', `--initial-branch=${scratchBranch}`]);
  await scratchGit(source, ['add', '--all']);
  await scratchGit(source, ['commit', '--quiet', '--message', message]);
  await scratchGit(source, ['clone', '--quiet', '--bare', source, remote]);
}

/** Runs git with an identity of its own and no configuration of the machine's; gives its trimmed output. */
export async function scratchGit(directory: string, args: readonly string[]): Promise<string> {
  const result = await runCommand('git', args, { directory, environment: { PATH: process.env['PATH'], ...identity } });
  if (result.code !== 0) throw new Error(`git ${args.join(' ')}: ${lastWords(result)}`);
  return result.stdout.trim();
}
