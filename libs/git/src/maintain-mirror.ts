import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunId } from '@flotilla/contracts/ids';
import { wholeMark, type KeptMirror } from './mirror.ts';
import { listRefs, unpinRuns, updateRefs } from './pin.ts';

const fetchedRefsKept = 200;
const abandonedAfterMs = 24 * 3600 * 1000;
/** Below the time that a writer waits for the mirror. */
const packingLimitMs = 300_000;

/**
 * Packs the mirror and drops what nobody reaches any more: the pins of these runs, fetched commits beyond the newest 200 and
 * objects older than two weeks without a ref. For a quiet hour: writers wait meanwhile. What an abort leaves undone is done
 * the next time. Safe to repeat.
 */
export async function maintainMirror(mirror: KeptMirror, spentRuns: readonly RunId[], now: Date): Promise<void> {
  await mirror.withLock(async (locked) => {
    await unpinRuns(locked, spentRuns);
    const fetched = await listRefs(locked, 'refs/mirror/fetched/', '--sort=-committerdate');
    await updateRefs(
      locked,
      fetched.slice(fetchedRefsKept).map((ref) => `delete ${ref}\0\0`),
    );
    await locked.run({ args: ['pack-refs', '--all', '--prune'] });
    // Forced past a gc that died on another host or in another container: the lock says that none is under way.
    const args = ['gc', '--force', '--quiet', '--prune=2.weeks.ago', '--no-cruft'];
    await locked.run({ args, timeLimitMs: packingLimitMs });
    await utimes(join(locked.gitDirectory, wholeMark), now, now);
  });
}

const abandoned = /^(scratch|inspect)-/;

/** Removes the directories of work under way that a crash left a day ago. */
export async function removeAbandonedScratch(cacheDirectory: string, now: Date): Promise<void> {
  const names = (await readdir(cacheDirectory).catch(noneWithoutDirectory)).filter((name) => abandoned.test(name));
  for (const name of names) {
    const info = await stat(join(cacheDirectory, name)).catch(() => undefined);
    if (info === undefined || now.getTime() - info.mtimeMs < abandonedAfterMs) continue;
    await rm(join(cacheDirectory, name), { recursive: true, force: true });
  }
}

function noneWithoutDirectory(error: NodeJS.ErrnoException): readonly string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
