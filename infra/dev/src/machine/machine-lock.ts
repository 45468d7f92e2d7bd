import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Report } from '../report.ts';
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

const patienceMs = 300;

/**
 * Runs `work` while no other process of this machine holds the lock of that name. The lock is a kernel lock held by a
 * `flock` child that lives on our pipe, so that it goes when we do, however we end. Not re-entrant.
 */
export async function withMachineLock<Result>(
  options: MachineLockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const directory = options.directory ?? (await makeMachineDirectory());
  const path = join(directory, `${options.name}.lock`);
  const release = await takeLock(path, options);
  try {
    await writeFile(`${path}.holder`, JSON.stringify({ pid: process.pid, purpose: options.purpose }));
    return await work();
  } finally {
    await release();
  }
}

async function takeLock(path: string, { name, report, signal }: MachineLockOptions): Promise<() => Promise<void>> {
  signal?.throwIfAborted();
  const child = spawn('flock', [path, 'sh', '-c', 'echo held; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const closed = new Promise<void>((resolve) => child.on('close', () => resolve()));
  const release = async (): Promise<void> => {
    child.stdin.end();
    await closed;
  };
  const abandon = (): boolean => child.kill();
  signal?.addEventListener('abort', abandon, { once: true });
  const waiting = setTimeout(
    () => void describeHolder(path).then((holder) => (activity = report.begin(name, `waiting for ${holder}`))),
    patienceMs,
  );
  let activity: ReturnType<Report['begin']> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve());
      child.on('error', (error) =>
        reject(new FlotillaError(errors.machineLockUnavailable, { path, reason: error.message })),
      );
      void closed.then(() => reject(new FlotillaError(errors.machineLockUnavailable, { path, reason: 'flock ended' })));
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(waiting);
    signal?.removeEventListener('abort', abandon);
    activity?.end('the other one is done');
  }
  return release;
}

async function describeHolder(path: string): Promise<string> {
  const text = await readFile(`${path}.holder`, 'utf8').catch(() => '');
  const [, pid, purpose] = /"pid":(\d+),"purpose":"(.*)"/.exec(text) ?? [];
  return pid === undefined ? 'another process' : `process ${pid}: ${purpose}`;
}
