import { constants } from 'node:fs';
import { access, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

const secretFiles = ['secrets.json', 'servers.json', 'token', 'broker-url'];
const ownDirectories = ['credentials', 'logs'];

/**
 * Makes the data directory of a fleet and closes to others what of it holds secrets; gives the paths that others could read until now.
 * Throws DATA_DIRECTORY_UNUSABLE. Safe to repeat.
 */
export async function prepareDataDirectory(directory: string): Promise<readonly string[]> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new FlotillaError(errors.dataDirectoryUnusable, { directory, reason: describe(cause) }, { cause });
  }
  const credentials = await readdir(join(directory, 'credentials')).catch(() => []);
  const secrets = [...secretFiles, ...credentials.map((name) => join('credentials', name))];
  const closed = await Promise.all([
    ...ownDirectories.map((name) => closeToOthers(join(directory, name), 0o700, constants.O_DIRECTORY)),
    ...secrets.map((name) => closeToOthers(join(directory, name), 0o600)),
  ]);
  return closed.flatMap((path) => path ?? []);
}

/** Never through a link, and never what is no file or directory of ours; the path where its mode was wider. */
async function closeToOthers(path: string, mode: number, kind = 0): Promise<string | undefined> {
  // A pipe that nobody writes to would be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | kind;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const facts = await file.stat();
    const ours = facts.uid === process.getuid?.() && (facts.isFile() || facts.isDirectory());
    if (!ours || (facts.mode & 0o077) === 0) return undefined;
    await file.chmod(facts.isDirectory() ? 0o700 : mode);
    return path;
  } finally {
    await file.close();
  }
}

function describe(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  switch (code) {
    case 'EEXIST':
      return 'it is there and no directory';
    case 'ENOTDIR':
      return 'a part of its path is no directory';
    case 'EACCES':
    case 'EPERM':
      return 'you may not write there';
    case 'EROFS':
      return 'its file system is read-only';
    default:
      return code;
  }
}
