import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addingMark } from '@flotilla/cli/verbs/credential-file';

/**
 * Removes credentials that a command line wrote for a project that was never added, since it was killed meanwhile, and halves of files.
 * One that an operator laid there has no mark and stays. Gives the names of what went; `findUsed` gives the credentials that projects
 * name, and is asked only where there is a mark.
 */
export async function reapCredentials(
  directory: string,
  findUsed: () => Promise<ReadonlySet<string>>,
): Promise<readonly string[]> {
  const files = await readdir(directory).catch(() => []);
  for (const file of files) {
    const writer = /\.(?:json|adding)\.(\d+)$/.exec(file)?.[1];
    if (writer !== undefined && !lives(Number(writer))) await rm(join(directory, file), { force: true });
  }
  const marks = files.filter((file) => file.endsWith(`.json${addingMark}`));
  if (marks.length === 0) return [];
  const used = await findUsed();
  const reaped: string[] = [];
  for (const mark of marks) {
    const writer = Number(await readFile(join(directory, mark), 'utf8').catch(() => '0'));
    if (lives(writer)) continue;
    const file = mark.slice(0, -addingMark.length);
    const name = file.slice(0, -'.json'.length);
    if (!used.has(name)) {
      await rm(join(directory, file), { force: true });
      reaped.push(name);
    }
    await rm(join(directory, mark), { force: true });
  }
  return reaped;
}

function lives(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
