import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Numbers that follow from a seed alone. */
export interface Random {
  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<const Item>(items: readonly [Item, ...Item[]]): Item;
  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean;
  /** Another source with a sequence of its own: what one user of it draws does not move the others. */
  fork(): Random;
}

export function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const between = (low: number, high: number): number => uniformInt(generator, low, high);
  return {
    between,
    // The index is within the list, which is not empty.
    pick: (items) => items[between(0, items.length - 1)] as (typeof items)[0],
    chance: (percent) => between(1, 100) <= percent,
    fork: () => createRandom(between(0, 0x7fffffff)),
  };
}
