import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/** Where Debian puts servers, which an ordinary user's PATH leaves out. */
const systemDirectories = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Absolute path of a command on PATH or in the system's own directories. */
export async function findCommand(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  alsoIn: readonly string[] = systemDirectories,
): Promise<string | undefined> {
  const directories = [...(environment['PATH'] ?? '').split(':').filter((each) => each !== ''), ...alsoIn];
  for (const directory of directories) {
    const path = join(directory, name);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return undefined;
}
