import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mirror } from './mirror.ts';
import { listRefs, updateRefs } from './pin.ts';

const fetchedRefsKept = 200;
const abandonedAfterMs = 24 * 3600 * 1000;

/**
 * Packs the mirror and drops what nobody reaches any more: fetched commits beyond the newest 200, objects older than two
 * weeks without a ref, and scratch directories that a crash left a day ago. For a quiet hour; writers wait meanwhile.
 */
export async function maintainMirror(mirror: Mirror, now: Date): Promise<void> {
  await mirror.withLock(async (locked) => {
    const fetched = await listRefs(locked, 'refs/mirror/fetched/', '--sort=-committerdate');
    await updateRefs(
      locked,
      fetched.slice(fetchedRefsKept).map((ref) => `delete ${ref}\0\0`),
    );
    await locked.run({ args: ['pack-refs', '--all', '--prune'] });
    await locked.run({ args: ['gc', '--quiet', '--prune=2.weeks.ago', '--no-cruft'], timeLimitMs: 3_600_000 });
  });
  await removeAbandonedScratch(mirror.cacheDirectory, now);
}

async function removeAbandonedScratch(cacheDirectory: string, now: Date): Promise<void> {
  const names = (await readdir(cacheDirectory)).filter((name) => name.startsWith('scratch-'));
  for (const name of names) {
    const info = await stat(join(cacheDirectory, name)).catch(() => undefined);
    if (info === undefined || now.getTime() - info.mtimeMs < abandonedAfterMs) continue;
    await rm(join(cacheDirectory, name), { recursive: true, force: true });
  }
}
