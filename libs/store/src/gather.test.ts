import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { expect, test } from 'vitest';
import { gather } from './gather.ts';

/** Work that ends when it is told to, and what it was asked to carry out. */
function heldWork() {
  const batches: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  return {
    batches,
    endNext: () => ends.shift()?.(),
    together: async (items: readonly string[]) => {
      batches.push(items);
      await new Promise<void>((resolve) => ends.push(resolve));
      return items.map((item) => item.toUpperCase());
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what is asked for while a batch is under way is carried out together, and each gets its own result', async () => {
  const work = heldWork();
  const ask = gather({ together: work.together, keyOf: (item) => item, limit: 10 });
  const first = ask('a');
  await turn();
  const others = ['b', 'c', 'd'].map(ask);
  await turn();
  expect(work.batches).toEqual([['a']]);
  work.endNext();
  await turn();
  work.endNext();
  expect(await Promise.all([first, ...others])).toEqual(['A', 'B', 'C', 'D']);
  expect(work.batches).toEqual([['a'], ['b', 'c', 'd']]);
});

test('two of one key are never in one batch, and no batch is larger than the limit', async () => {
  const work = heldWork();
  const ask = gather({ together: work.together, keyOf: (item) => item[0] ?? '', limit: 2 });
  const all = ['a1', 'a2', 'b', 'c'].map(ask);
  for (let batches = 0; batches < 4; batches += 1) {
    await turn();
    work.endNext();
  }
  await Promise.all(all);
  expect(work.batches).toEqual([
    ['a1', 'b'],
    ['a2', 'c'],
  ]);
});

test('one that fails does not take the others of its batch with it', async () => {
  const ask = gather({
    together: async (items: readonly string[]) => {
      if (items.includes('bad')) throw new Error(`bad is among ${items.length}`);
      return items;
    },
    keyOf: (item) => item,
    limit: 10,
  });
  const results = await Promise.allSettled(['good', 'bad', 'fine'].map(ask));
  expect(results).toMatchObject([
    { status: 'fulfilled', value: 'good' },
    { status: 'rejected', reason: { message: 'bad is among 1' } },
    { status: 'fulfilled', value: 'fine' },
  ]);
});

test('a lost Postgres fails all of a batch, which is not tried again: it may have been committed', async () => {
  let asked = 0;
  const ask = gather({
    together: () => {
      asked += 1;
      return Promise.reject(new FlotillaError(errors.storeUnavailable, { reason: 'gone' }));
    },
    keyOf: (item: string) => item,
    limit: 10,
  });
  const results = await Promise.allSettled(['a', 'b'].map(ask));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked).toBe(1);
});

test('a batch that waits for somebody does not keep the others waiting', async () => {
  const ask = gather({
    together: async (items: readonly string[]) =>
      items.includes('stuck') ? new Promise<never>(() => undefined) : items,
    keyOf: (item) => item,
    limit: 10,
  });
  void ask('stuck');
  await turn();
  expect(await ask('free')).toBe('free');
});
