import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where what belongs to the machine and not to a clone is kept: locks, the Docker engine's log. Root has
 * /var/lib/flotilla; everybody else a directory of their own, since a lock in a shared directory cannot be opened by two users
 * where the kernel protects regular files.
 */
function machineDirectory(): string {
  return process.getuid?.() === 0 ? '/var/lib/flotilla' : join(homedir(), '.cache', 'flotilla');
}

export async function makeMachineDirectory(): Promise<string> {
  const directory = machineDirectory();
  await mkdir(directory, { recursive: true });
  return directory;
}
