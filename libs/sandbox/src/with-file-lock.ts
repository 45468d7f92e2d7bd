import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './directory-handle.ts';

export interface FileLockOptions {
  readonly newId: () => string;
  readonly now: () => number;
  readonly signal?: AbortSignal;
  /** A holder that has not beaten this long is dead. Default: 20 000. */
  readonly deadAfterMs?: number;
}

const lookEveryMs = 200;

/**
 * Runs `action` while holding a lock file, so that processes of one host do a piece of work one after another. The lock saves
 * work and decides nothing: a holder that was held up and overtaken must do no harm by going on.
 */
export async function withFileLock<T>(file: string, options: FileLockOptions, action: () => Promise<T>): Promise<T> {
  const id = options.newId();
  const deadAfterMs = options.deadAfterMs ?? 20_000;
  await acquire(file, id, deadAfterMs, options);
  const beat = setInterval(() => void touch(file), deadAfterMs / 4);
  try {
    return await action();
  } finally {
    clearInterval(beat);
    if ((await readOptional(file)) === id) await rm(file, { force: true });
  }
}

async function acquire(file: string, id: string, deadAfterMs: number, { now, signal }: FileLockOptions): Promise<void> {
  let seen: { readonly beat: number; readonly since: number } | undefined;
  for (;;) {
    signal?.throwIfAborted();
    if (await tryCreate(file, id)) return;
    const beat = await lastBeat(file);
    if (beat === undefined) continue;
    // Only this process's own clock is asked how long the beat has been the same.
    if (seen?.beat !== beat) seen = { beat, since: now() };
    else if (now() - seen.since > deadAfterMs) await removeDead(file, id, beat);
    await delay(lookEveryMs, undefined, signal && { signal });
  }
}

async function tryCreate(file: string, id: string): Promise<boolean> {
  try {
    await writeFile(file, id, { flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Takes the file away by a name of its own, and gives it back when somebody else was quicker and this is theirs. */
async function removeDead(file: string, id: string, beat: number): Promise<void> {
  const aside = `${file}.dead-${id}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  if ((await lastBeat(aside)) !== beat) await rename(aside, file);
  else await rm(aside, { force: true });
}

async function lastBeat(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function touch(file: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(file);
    const next = mtimeMs / 1000 + 1;
    await utimes(file, next, next);
  } catch {
    // The lock was taken away: its holder goes on, and what it makes is put in place in one step or not at all.
  }
}

async function readOptional(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
