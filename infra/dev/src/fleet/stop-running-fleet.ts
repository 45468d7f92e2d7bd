import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isLockTaken, readLockHolder, takeFileLock } from '../machine/file-lock.ts';

/** The process that runs the fleet of a data directory now, however it was started; undefined when none does. */
export async function findRunningFleet(dataDirectory: string): Promise<number | undefined> {
  const path = join(dataDirectory, 'servers.lock');
  if (!(await isLockTaken(path))) return undefined;
  return (await readLockHolder(path))?.pid;
}

const pollMs = 50;

/** Asks that process to drain and stop, and waits until it is gone with all that belongs to it. Gives its id; undefined when none runs. */
export async function stopRunningFleet(dataDirectory: string): Promise<number | undefined> {
  const pid = await findRunningFleet(dataDirectory);
  if (pid === undefined) return undefined;
  send(pid, 'SIGTERM');
  const lock = await takeFileLock({ path: join(dataDirectory, 'servers.lock'), purpose: 'stopping the fleet' }, 'wait');
  if (lock.kind === 'held') await lock.release();
  while (send(pid, 0)) await delay(pollMs);
  return pid;
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
