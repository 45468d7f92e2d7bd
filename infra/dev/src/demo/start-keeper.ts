import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ReportSink } from '../report.ts';
import { repositoryDirectory } from '../repository.ts';
import { stay, type KeeperMessage, type KeptFleet } from './keeper-messages.ts';

export interface KeeperOptions {
  /** Absolute. */
  readonly dataDirectory: string;
  readonly allInOne: boolean;
  /** Where what the keeper reports goes, as long as it belongs to us. */
  readonly sink: ReportSink;
  readonly signal: AbortSignal;
  /** Called when it ends unasked once it was ready. */
  readonly onEnded: (error: Error) => void;
}

/** A fleet in a process of its own, which ends with this one until it is left running. */
export interface Keeper {
  readonly fleet: KeptFleet;
  readonly pid: number;
  /** Lets the fleet run on when this process is gone. */
  leave(): Promise<void>;
  /** Drains and stops it, and waits until it is gone. Safe to repeat. */
  stop(): Promise<void>;
}

/** Starts the keeper and waits until its fleet is ready. Whatever fails, it is gone. */
export async function startKeeper(options: KeeperOptions): Promise<Keeper> {
  const child = await launch(options);
  const gone = new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('exit', () => resolve());
  });
  const ready = Promise.withResolvers<KeptFleet>();
  const stays = Promise.withResolvers<undefined>();
  let reason = 'the process that keeps the fleet ended';
  let asked = false;
  // Written by the keeper and by nobody else.
  child.on('message', (message) => hear(message as KeeperMessage));
  void gone.then(() => {
    const error = new Error(reason);
    ready.reject(error);
    stays.reject(error);
    if (!asked) options.onEnded(error);
  });
  for (const { promise } of [ready, stays]) promise.catch(() => undefined);

  function hear(message: KeeperMessage): void {
    if (message.kind === 'report') options.sink(message.event);
    else if (message.kind === 'ready') ready.resolve(message.fleet);
    else if (message.kind === 'failed') reason = message.text;
    else stays.resolve(undefined);
  }
  const stop = async (): Promise<void> => {
    asked = true;
    child.kill('SIGTERM');
    await gone;
  };
  const end = (): void => void stop();
  options.signal.addEventListener('abort', end, { once: true });
  try {
    const fleet = await ready.promise;
    options.signal.removeEventListener('abort', end);
    return {
      fleet,
      pid: child.pid ?? 0,
      leave: async () => {
        child.send(stay);
        await stays.promise;
        asked = true;
        child.disconnect();
        child.unref();
      },
      stop,
    };
  } catch (error) {
    await gone;
    options.signal.throwIfAborted();
    throw error;
  }
}

/** In a session of its own: neither a Ctrl-C nor the end of the terminal reaches it. */
async function launch({ dataDirectory, allInOne, signal }: KeeperOptions): Promise<ChildProcess> {
  signal.throwIfAborted();
  const log = await openKeeperLog(dataDirectory);
  const program = fileURLToPath(new URL('../demo-keeper.ts', import.meta.url));
  const options = ['--data', dataDirectory, ...(allInOne ? ['--all-in-one'] : [])];
  const child = spawn(process.execPath, ['--conditions=@flotilla/source', program, ...options], {
    cwd: repositoryDirectory,
    detached: true,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  const close = (): void => void log.close();
  child.once('spawn', close).once('error', close);
  return child;
}

/** The first that makes the data directory, which is for its owner alone. */
export async function openKeeperLog(dataDirectory: string): Promise<FileHandle> {
  const logs = join(dataDirectory, 'logs');
  await mkdir(logs, { recursive: true, mode: 0o700 });
  return open(join(logs, 'keeper.log'), 'a', 0o600);
}
