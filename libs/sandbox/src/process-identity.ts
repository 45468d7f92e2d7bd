import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { errorCode } from './directory-handle.ts';

/**
 * Names a process so that another one on the same machine can tell, at any later time, whether it has ended: its id, its start,
 * and a digest of the kernel's boot and of the name space that the id counts in. Undefined where the kernel does not say.
 */
export async function identifyProcess(pid: number): Promise<string | undefined> {
  const [life, place] = await Promise.all([readLife(pid), readPlace()]);
  return life === undefined || place === undefined ? undefined : `${pid}.${life.start}.${place}`;
}

/**
 * Whether the process is known to have ended. False for one that stands still, and for one that cannot be seen from here: of another
 * machine, of another container, or of a user whose processes are hidden.
 */
export async function hasEnded(identity: string): Promise<boolean> {
  const [, pid, start, place] = identityPattern.exec(identity) ?? [];
  if (pid === undefined || place !== (await readPlace())) return false;
  const life = await readLife(Number(pid));
  return life === undefined ? !isThere(Number(pid)) : life.start !== start || life.dead;
}

const identityPattern = /^(\d+)\.(\d+)\.([0-9a-f]{16})$/;

/** The fields of /proc/PID/stat behind the name, which may hold anything: the first is the state, the twentieth the start. */
async function readLife(pid: number): Promise<{ readonly start: string; readonly dead: boolean } | undefined> {
  const text = await readOptional(`/proc/${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, start] = [fields?.[0], fields?.[19]];
  return state === undefined || start === undefined ? undefined : { start, dead: /^[ZX]/.test(state) };
}

async function readPlace(): Promise<string | undefined> {
  const boot = await readOptional('/proc/sys/kernel/random/boot_id');
  if (boot === undefined) return undefined;
  const spaces = await Promise.all(['pid', 'time'].map((kind) => readlink(`/proc/self/ns/${kind}`).catch(() => '')));
  return createHash('sha256')
    .update([boot.trim(), ...spaces].join('\n'))
    .digest('hex')
    .slice(0, 16);
}

/** Its entry below /proc may be hidden from us; that it is there is not. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ESRCH';
  }
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    // ESRCH: it ended while it was read.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
