import fs from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { errorCode } from './directory-handle.ts';
import { chooseEvictions, type EvictionLimits, type StoredSetup } from './choose-evictions.ts';
import { captureIgnored, layFiles } from './setup-files.ts';
import type { SetupRun } from './run-setup.ts';
import { runSetup } from './run-setup.ts';
import type { Slot } from './slot.ts';
import { withFileLock } from './with-file-lock.ts';

export interface SetupStoreOptions {
  readonly directory: string;
  readonly newId: () => string;
  readonly now: () => number;
  /** The largest result kept. Default: 4 GiB. */
  readonly limitBytes?: number;
  /** How long a process that makes a setup may show no sign of life. Default: 20 000. */
  readonly deadAfterMs?: number;
}

export interface SetupRequest extends SetupRun {
  /** See setupKey. */
  readonly key: string;
  /**
   * Opens a slot whose only way out is its door, with the base commit laid in its workspace. Called when the setup has to be
   * made, and only then; the slot is destroyed here.
   */
  readonly openSlot: () => Promise<Slot>;
}

export interface SetupResult {
  /** `reused`: it was there, or another process made it meanwhile. */
  readonly kind: 'reused' | 'made';
  readonly bytes: number;
  readonly durationMs: number;
}

/** What dependency setups left, kept by key. A key is there wholly or not at all. */
export interface SetupStore {
  has(key: string): Promise<boolean>;
  /** Makes a setup once per key and host. Throws SETUP_FAILED with the last output in its details, SETUP_TOO_LARGE. */
  ensure(request: SetupRequest): Promise<SetupResult>;
  /** Puts a setup's files into a workspace; what is there already stays as it is. Throws SETUP_NOT_LAID. */
  lay(key: string, slot: Slot): Promise<{ readonly durationMs: number }>;
  /** Removes what `chooseEvictions` says, but nothing that `isNeeded` names. What is being laid is laid to its end. Answers the keys. */
  evict(limits: EvictionLimits, isNeeded: (key: string) => Promise<boolean>): Promise<readonly string[]>;
}

const filesName = 'files.tar';
const factsName = 'setup.json';
/** Its time is when the setup was last used. */
const usedName = 'used';
const makingPrefix = '.making-';
const evictedPrefix = '.evicted-';
const halfDoneAfterMs = 24 * 3600 * 1000;

export function createSetupStore(options: SetupStoreOptions): SetupStore {
  const { directory, newId, now } = options;
  const limitBytes = options.limitBytes ?? 4 * 1024 ** 3;
  const directoryOf = (key: string) => path.join(directory, checkedKey(key));

  return { has: async (key) => (await findBytes(key)) !== undefined, ensure, lay, evict };

  async function ensure(request: SetupRequest): Promise<SetupResult> {
    const started = now();
    const reused = (bytes: number): SetupResult => ({ kind: 'reused', bytes, durationMs: now() - started });
    const found = await findBytes(request.key);
    if (found !== undefined && (await noteUse(request.key))) return reused(found);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const { deadAfterMs } = options;
    const lock = { newId, now, ...(deadAfterMs && { deadAfterMs }), ...(request.signal && { signal: request.signal }) };
    return withFileLock(`${directoryOf(request.key)}.lock`, lock, async () => {
      const made = await findBytes(request.key);
      if (made !== undefined) return reused(made);
      await removeHalfDone();
      const bytes = await make(request);
      return { kind: 'made', bytes, durationMs: now() - started };
    });
  }

  /** Everything is written aside and takes its name in one step: a crash leaves a directory that nobody looks in. */
  async function make(request: SetupRequest): Promise<number> {
    const aside = path.join(directory, `${makingPrefix}${newId()}`);
    await mkdir(aside);
    try {
      await using slot = await request.openSlot();
      const before = await runSetup(slot, request);
      const bytes = await writeFiles(slot, before, path.join(aside, filesName));
      await writeFile(
        path.join(aside, factsName),
        JSON.stringify({ commands: request.commands, image: slot.image, bytes }),
      );
      await publish(aside, directoryOf(request.key));
      return bytes;
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }

  async function writeFiles(slot: Slot, before: Uint8Array, file: string): Promise<number> {
    await using handle = await open(file, 'wx', 0o600);
    let bytes = 0;
    const complete = await captureIgnored(slot, before, limitBytes, (chunk) => {
      // At once, so that no more is in memory than one frame.
      for (let at = 0; at < chunk.length;) at += fs.writeSync(handle.fd, chunk, at);
      bytes += chunk.length;
    });
    if (!complete) throw new FlotillaError(errors.setupTooLarge, { limitBytes });
    await handle.sync();
    return bytes;
  }

  async function lay(key: string, slot: Slot): Promise<{ readonly durationMs: number }> {
    const started = now();
    if (!(await findBytes(key)) || !(await noteUse(key)))
      throw new FlotillaError(errors.setupNotLaid, { key, reason: 'it is not in the store' });
    await using archive = await open(path.join(directoryOf(key), filesName));
    const reason = await layFiles(slot, archive.createReadStream({ highWaterMark: 1024 ** 2, autoClose: false }));
    if (reason !== undefined) throw new FlotillaError(errors.setupNotLaid, { key, reason });
    return { durationMs: now() - started };
  }

  async function evict(
    limits: EvictionLimits,
    isNeeded: (key: string) => Promise<boolean>,
  ): Promise<readonly string[]> {
    const names = await readdir(directory).catch(() => []);
    for (const name of names)
      if (name.startsWith(evictedPrefix)) await rm(path.join(directory, name), { recursive: true, force: true });
    if (names.length === 0) return [];
    const setups = (await Promise.all(names.filter(isKey).map(describe))).filter((setup) => setup !== undefined);
    const evicted: string[] = [];
    for (const { key, usedAt } of chooseEvictions(setups, await readClock(), limits)) {
      const { deadAfterMs } = options;
      await withFileLock(`${directoryOf(key)}.lock`, { newId, now, ...(deadAfterMs && { deadAfterMs }) }, async () => {
        if (await isNeeded(key)) return;
        const aside = path.join(directory, `${evictedPrefix}${newId()}`);
        await rename(directoryOf(key), aside);
        // Whoever began to use it since it was chosen did so before this moment, or finds nothing.
        if ((await readUse(aside)) !== usedAt) return rename(aside, directoryOf(key));
        await rm(aside, { recursive: true, force: true });
        evicted.push(key);
      });
    }
    return evicted;
  }

  async function describe(key: string): Promise<StoredSetup | undefined> {
    const bytes = await findBytes(key);
    if (bytes === undefined) return undefined;
    return { key, bytes, usedAt: await readUse(directoryOf(key)) };
  }

  /** False where the setup is gone. */
  async function noteUse(key: string): Promise<boolean> {
    try {
      await writeFile(path.join(directoryOf(key), usedName), '');
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /** The file system's own time, which the times of its files are told apart by. */
  async function readClock(): Promise<number> {
    const clock = path.join(directory, '.clock');
    await writeFile(clock, '');
    return (await stat(clock)).mtimeMs;
  }

  async function findBytes(key: string): Promise<number | undefined> {
    try {
      await readFile(path.join(directoryOf(key), factsName));
      return (await stat(path.join(directoryOf(key), filesName))).size;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async function removeHalfDone(): Promise<void> {
    const names = (await readdir(directory)).filter((name) => name.startsWith(makingPrefix));
    if (names.length === 0) return;
    const clockMs = await readClock();
    for (const name of names) {
      const facts = await stat(path.join(directory, name)).catch(() => undefined);
      if (facts && clockMs - facts.mtimeMs > halfDoneAfterMs)
        await rm(path.join(directory, name), { recursive: true, force: true });
    }
  }
}

/** A setup of before uses were noted was used when it was made, as far as anybody knows. */
async function readUse(place: string): Promise<number> {
  const timeOf = async (name: string) => (await stat(path.join(place, name))).mtimeMs;
  return timeOf(usedName).catch(() => timeOf(factsName));
}

/** Whoever is second finds the place taken, and leaves it: both made the same. */
async function publish(aside: string, place: string): Promise<void> {
  try {
    await rename(aside, place);
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error;
  }
}

function isKey(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

function checkedKey(key: string): string {
  if (!isKey(key)) throw new TypeError(`${JSON.stringify(key)} is not the key of a setup`);
  return key;
}
