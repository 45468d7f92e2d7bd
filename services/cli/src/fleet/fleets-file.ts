import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A fleet that runs on this machine for this user, as the command line finds it from any folder. */
export interface RegisteredFleet {
  readonly url: string;
  /** File with the token, mode 0600; the token itself is never written here. */
  readonly tokenFile: string;
  readonly dataDirectory: string;
  readonly pid: number;
  /** The clone that it was started from. */
  readonly clone?: string;
}

/** `fleets.json` in the user's configuration directory (XDG). */
export function fleetsFile(environment: Readonly<Record<string, string | undefined>>): string {
  const configured = environment['XDG_CONFIG_HOME'];
  const home = environment['HOME'] ?? homedir();
  return join(configured?.startsWith('/') === true ? configured : join(home, '.config'), 'flotilla', 'fleets.json');
}

/** Fleets whose process is alive; none where the file is missing or cannot be read as one. */
export async function readFleets(file: string): Promise<readonly RegisteredFleet[]> {
  return (await readAll(file)).filter(({ pid }) => isAlive(pid));
}

/** Adds a fleet; one of the same data directory and those that have died go. */
export async function registerFleet(file: string, fleet: RegisteredFleet): Promise<void> {
  await update(file, (fleets) => [
    ...fleets.filter(({ dataDirectory }) => dataDirectory !== fleet.dataDirectory),
    fleet,
  ]);
}

/** Takes a fleet out again; safe to repeat. */
export async function unregisterFleet(file: string, { pid, url }: Pick<RegisteredFleet, 'pid' | 'url'>): Promise<void> {
  await update(file, (fleets) => fleets.filter((fleet) => fleet.pid !== pid || fleet.url !== url));
}

async function update(
  file: string,
  change: (fleets: readonly RegisteredFleet[]) => readonly RegisteredFleet[],
): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const lock = await takeLock(`${file}.lock`);
  try {
    const temporary = `${file}.${process.pid}`;
    const fleets = change(await readFleets(file));
    await writeFile(temporary, `${JSON.stringify(fleets, undefined, 2)}\n`, { mode: 0o600 });
    await rename(temporary, file);
  } finally {
    await lock.release();
  }
}

const lockPatienceMs = 5_000;

/** Two clones may start at once. A lock whose holder died is taken over after the patience is spent. */
async function takeLock(path: string): Promise<{ release(): Promise<void> }> {
  for (let waited = 0; ; waited += 25) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      return { release: () => rm(path, { force: true }) };
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
      const held = await stat(path).catch(() => undefined);
      if (waited >= lockPatienceMs && held !== undefined) await rm(path, { force: true });
      await wait(25);
    }
  }
}

async function readAll(file: string): Promise<readonly RegisteredFleet[]> {
  try {
    const content: unknown = JSON.parse(await readFile(file, 'utf8'));
    return Array.isArray(content) ? content.filter(isFleet) : [];
  } catch (error) {
    if (isCode(error, 'ENOENT') || error instanceof SyntaxError) return [];
    throw error;
  }
}

function isFleet(value: unknown): value is RegisteredFleet {
  if (typeof value !== 'object' || value === null) return false;
  const { url, tokenFile, dataDirectory, pid } = value as Record<keyof RegisteredFleet, unknown>; // checked right below
  return [url, tokenFile, dataDirectory].every((text) => typeof text === 'string') && Number.isInteger(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
