import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { runCommand } from '../run-command.ts';

export interface LockHolder {
  readonly pid: number;
  readonly purpose: string;
}

export interface FileLockOptions {
  /** The directory must exist. */
  readonly path: string;
  /** What the holder does, told to others. */
  readonly purpose: string;
  readonly signal?: AbortSignal | undefined;
}

export type FileLock =
  | { readonly kind: 'held'; release(): Promise<void> }
  /** `undefined` when the holder is just changing. */
  | { readonly kind: 'taken'; readonly holder: LockHolder | undefined };

const takenCode = 75;

/**
 * Takes a kernel lock on a file, at once or (`wait`) when its holder lets go. It belongs to a `flock` child that lives on our
 * pipe, so that it goes when we do, however we end: there is no stale lock. Not re-entrant.
 */
export async function takeFileLock(
  { path, purpose, signal }: FileLockOptions,
  mode: 'wait' | 'at_once',
): Promise<FileLock> {
  signal?.throwIfAborted();
  const patience = mode === 'wait' ? [] : ['--nonblock', '--conflict-exit-code', String(takenCode)];
  // In a session of its own: a Ctrl-C must not take the lock from us while we still clean up.
  const child = spawn('flock', [...patience, path, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const closed = new Promise<number | string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code ?? 'it was ended'));
  });
  const abandon = (): boolean => child.kill();
  signal?.addEventListener('abort', abandon, { once: true });
  const outcome = await Promise.race([
    closed,
    new Promise<'held'>((resolve) => child.stdout.once('data', () => resolve('held'))),
  ]);
  signal?.removeEventListener('abort', abandon);
  signal?.throwIfAborted();
  if (outcome === takenCode) return { kind: 'taken', holder: await readLockHolder(path) };
  if (outcome !== 'held') throw new FlotillaError(errors.lockUnavailable, { path, reason: `flock: ${outcome}` });

  await writeFile(holderPath(path), JSON.stringify({ pid: process.pid, purpose } satisfies LockHolder));
  return {
    kind: 'held',
    release: async () => {
      child.stdin.end();
      await closed;
    },
  };
}

/** Who took the lock last, and may still hold it. */
export async function readLockHolder(path: string): Promise<LockHolder | undefined> {
  const text = await readFile(holderPath(path), 'utf8').catch(() => '');
  try {
    // Written above and by nobody else, but perhaps only half of it so far.
    return JSON.parse(text) as LockHolder;
  } catch {
    return undefined;
  }
}

function holderPath(path: string): string {
  return `${path}.holder`;
}

/** Whether somebody holds the lock now. Shares it for a moment when nobody does, so that those who ask do not see one another. */
export async function isLockTaken(path: string): Promise<boolean> {
  const { code } = await runCommand('flock', [
    '--shared',
    '--nonblock',
    '--conflict-exit-code',
    String(takenCode),
    path,
    'true',
  ]);
  return code === takenCode;
}
