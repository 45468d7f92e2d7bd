import { isBaseOld, isBaseSpent, ownerOf, type ObjectFacts } from '../domain/judge-objects.ts';
import type { ArchiveStore } from '../store/archive.store.ts';

export interface CleanedBucket {
  listObjects(): Promise<readonly ObjectFacts[]>;
  delete(name: string): Promise<void>;
  /** Unless it was stored anew meanwhile. */
  deleteUnchanged(object: ObjectFacts): Promise<boolean>;
}

export interface CleanBucketsPorts {
  readonly archives: Pick<ArchiveStore, 'findArchived' | 'findBases'>;
  readonly changes: CleanedBucket;
  readonly spills: CleanedBucket;
  readonly clock: () => Date;
}

const runsAtOnce = 1000;

/**
 * Takes out of the buckets what is of archived runs and no log told of, and bundles of base commits that no run needs. What is of a run
 * that nobody knows stays: it may be of a database that is being restored. Answers how many went. Safe to repeat.
 */
export async function cleanBuckets({ archives, changes, spills, clock }: CleanBucketsPorts): Promise<number> {
  let removed = 0;
  for (const bucket of [changes, spills]) {
    const objects = await bucket.listObjects();
    const archived = await findArchived(archives, objects);
    for (const { name } of objects) {
      const owner = ownerOf(name);
      if (owner.kind === 'base' || !archived.has(owner.runId)) continue;
      await bucket.delete(name);
      removed += 1;
    }
    const now = clock();
    const old = objects.filter(({ name, storedAt }) => ownerOf(name).kind === 'base' && isBaseOld(storedAt, now));
    const needed = old.length === 0 ? new Set<string>() : await archives.findBases();
    for (const base of old) if (isBaseSpent(base, needed, now) && (await bucket.deleteUnchanged(base))) removed += 1;
  }
  return removed;
}

async function findArchived(
  archives: CleanBucketsPorts['archives'],
  objects: readonly ObjectFacts[],
): Promise<ReadonlySet<string>> {
  const runIds = new Set<string>();
  for (const { name } of objects) {
    const owner = ownerOf(name);
    if (owner.kind === 'run') runIds.add(owner.runId);
  }
  const all = [...runIds];
  const archived = new Set<string>();
  for (let start = 0; start < all.length; start += runsAtOnce)
    for (const runId of await archives.findArchived(all.slice(start, start + runsAtOnce))) archived.add(runId);
  return archived;
}
