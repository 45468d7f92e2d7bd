import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface GatherOptions<Item, Result> {
  /** Carries out all of them or, when it throws, none; one result for each, in their order. */
  readonly together: (items: readonly Item[]) => Promise<readonly Result[]>;
  /** Two items of one key are never carried out together. */
  readonly keyOf: (item: Item) => string;
  /** Items carried out together at most. */
  readonly limit: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Whoever waits for a row that somebody locked does not keep the others waiting for longer. */
const patienceMs = 100;

/**
 * Carries out an item at once where nothing is under way; what comes meanwhile waits and is carried out together. When many fail
 * together each is carried out by itself, so that one does not take the others with it; a lost Postgres fails them all.
 */
export function gather<Item, Result>(options: GatherOptions<Item, Result>): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let busy = false;
  const carryOut = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await options.together(batch.map(({ item }) => item));
      for (const [place, { resolve, reject }] of batch.entries()) {
        if (place < results.length)
          resolve(results[place] as Result); // `together` gives one for each
        else reject(new RangeError('an item was given no result'));
      }
    } catch (error) {
      const lost = error instanceof FlotillaError && error.is(errors.storeUnavailable);
      if (batch.length === 1 || lost) for (const { reject } of batch) reject(error);
      else for (const one of batch) await carryOut([one]);
    }
  };
  const start = (): void => {
    if (busy || waiting.length === 0) return;
    busy = true;
    let ours = true;
    const free = (): void => {
      if (!ours) return;
      ours = false;
      busy = false;
      start();
    };
    const timer = setTimeout(free, patienceMs);
    void carryOut(takeBatch(waiting, options)).finally(() => {
      clearTimeout(timer);
      free();
    });
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Whoever asks in the same turn is carried out with it.
      queueMicrotask(start);
    });
}

function takeBatch<Item, Result>(
  waiting: Waiting<Item, Result>[],
  { keyOf, limit }: GatherOptions<Item, Result>,
): readonly Waiting<Item, Result>[] {
  const batch = new Map<string, Waiting<Item, Result>>();
  const later: Waiting<Item, Result>[] = [];
  for (const one of waiting.splice(0)) {
    const key = keyOf(one.item);
    if (batch.size < limit && !batch.has(key)) batch.set(key, one);
    else later.push(one);
  }
  waiting.push(...later);
  return [...batch.values()];
}
