import { join } from 'node:path';
import type { Report } from '../report.ts';
import { readLockHolder, takeFileLock } from './file-lock.ts';
import { makeMachineDirectory } from './machine-directory.ts';

export interface MachineLockOptions {
  /** What is locked, as a file name: "packages". */
  readonly name: string;
  /** What the holder does, told to those who wait: "installing nats-server". */
  readonly purpose: string;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
  /** Default: the machine's directory. */
  readonly directory?: string;
}

/** Runs `work` while no other process of this machine holds the lock of that name; says whom it waits for. */
export async function withMachineLock<Result>(
  options: MachineLockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await takeMachineLock(options);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function takeMachineLock({
  name,
  purpose,
  report,
  signal,
  directory,
}: MachineLockOptions): Promise<{ release(): Promise<void> }> {
  const path = join(directory ?? (await makeMachineDirectory()), `${name}.lock`);
  const first = await takeFileLock({ path, purpose, signal }, 'at_once');
  if (first.kind === 'held') return first;
  const holder = first.holder ?? (await readLockHolder(path));
  const activity = report.begin(
    name,
    `waiting for ${holder === undefined ? 'another process' : `process ${holder.pid}, which is ${holder.purpose}`}`,
  );
  for (;;) {
    const lock = await takeFileLock({ path, purpose, signal }, 'wait').catch((error: unknown) => {
      activity.stop('not waited for any longer');
      throw error;
    });
    activity.end('the other one is done');
    if (lock.kind === 'held') return lock;
  }
}
