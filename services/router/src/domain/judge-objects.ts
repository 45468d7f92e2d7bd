import { REMOVE_BASE_AFTER_MS } from '@flotilla/contracts/streams';

export interface ObjectFacts {
  readonly name: string;
  readonly storedAt: Date;
}

/** What an object of the buckets is of: a base commit, which many runs may begin at, or one run. */
export function ownerOf(name: string): { readonly kind: 'base' } | { readonly kind: 'run'; readonly runId: string } {
  const [first = ''] = name.split('/');
  return first === 'base' ? { kind: 'base' } : { kind: 'run', runId: first };
}

/** Whether a bundle of a base commit may go. A young one may be about to be used by a run that does not tell of it yet. */
export function isBaseSpent({ name, storedAt }: ObjectFacts, needed: ReadonlySet<string>, now: Date): boolean {
  return isBaseOld(storedAt, now) && !needed.has(name);
}

export function isBaseOld(storedAt: Date, now: Date): boolean {
  return now.getTime() - storedAt.getTime() > REMOVE_BASE_AFTER_MS;
}
