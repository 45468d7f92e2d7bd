import { open } from 'node:fs/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { defaultProgramPath } from './git-environment.ts';
import { runProgram } from './run-program.ts';

export interface FileLockOptions {
  /** How long to wait for another holder; then mirrorBusy. */
  readonly waitLimitMs: number;
  /** What the lock stands for, for the error. */
  readonly holds: string;
  readonly programPath?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` while holding an exclusive lock on the file. The kernel keeps the lock on the open file, so it ends with
 * this process however that ends, holds across containers that share the directory, and nothing stale can be left. `work`
 * gets the descriptor to hand to the programs it starts: while one of them lives on after a crash, the lock is still held.
 */
export async function withFileLock<Result>(
  path: string,
  options: FileLockOptions,
  work: (descriptor: number) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, 'a', 0o600);
  try {
    await lockDescriptor(file.fd, options);
    return await work(file.fd);
  } finally {
    await file.close();
  }
}

/** flock(1) locks the open file that it inherits as descriptor 3, and the lock outlives it as ours is the same open file. */
async function lockDescriptor(descriptor: number, options: FileLockOptions): Promise<void> {
  const programPath = options.programPath ?? defaultProgramPath;
  const end = await runProgram({
    command: 'flock',
    args: ['--exclusive', '--timeout', String(options.waitLimitMs / 1000), '3'],
    environment: { PATH: programPath, LC_ALL: 'C' },
    timeLimitMs: options.waitLimitMs + 10_000,
    outputLimitBytes: 1024,
    signal: options.signal,
    keepOpen: [descriptor],
  }).catch((error: unknown) => {
    if (error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('spawn')) {
      throw new FlotillaError(errors.gitMissing, { reason: error.message }, { cause: error });
    }
    throw error;
  });
  if (end.exitCode !== 0) throw new FlotillaError(errors.mirrorBusy, { remote: options.holds });
}
