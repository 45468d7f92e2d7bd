import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createSetupStore, type SetupStore } from './setup-store.ts';

const day = 24 * 3600 * 1000;
let directory: string;
let setups: SetupStore;
let ids = 0;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'flotilla-setups-'));
  setups = createSetupStore({ directory, newId: () => String((ids += 1)), now: () => performance.now() });
  return () => rm(directory, { recursive: true });
});

const keyOf = (digit: string) => digit.repeat(64);
function put(digit: string, usedDaysAgo: number, bytes = 10): string {
  const place = path.join(directory, keyOf(digit));
  mkdirSync(place);
  writeFileSync(path.join(place, 'files.tar'), 'x'.repeat(bytes));
  for (const name of ['setup.json', 'used']) writeFileSync(path.join(place, name), '{}');
  const at = (Date.now() - usedDaysAgo * day) / 1000;
  for (const name of ['setup.json', 'used']) utimesSync(path.join(place, name), at, at);
  return keyOf(digit);
}
const limits = { keptMs: 30 * day, limitBytes: 1e9 };
const nobody = () => Promise.resolve(false);
const left = () => readdirSync(directory).filter((name) => name !== '.clock');

test('what nobody used for long is removed wholly, and what a run needs stays', async () => {
  const [old, needed, young] = [put('a', 40), put('b', 50), put('c', 0.5)];
  expect(await setups.evict(limits, async (key) => key === needed)).toEqual([old]);
  expect(left().toSorted()).toEqual([needed, young]);
  expect(await setups.evict(limits, nobody)).toEqual([needed]);
  expect(await setups.evict({ ...limits, limitBytes: 0 }, nobody)).toEqual([]);
  expect([await setups.has(old), await setups.has(young)]).toEqual([false, true]);
});

test('one whose use begins while it is about to go stays', async () => {
  const key = put('a', 40);
  const begin = async () => {
    await setups.ensure({ key, commands: [], openSlot: () => Promise.reject(new Error('it is there')) });
    return false;
  };
  expect(await setups.evict(limits, begin)).toEqual([]);
  expect(await setups.has(key)).toBe(true);
  expect(await setups.evict(limits, nobody)).toEqual([]);
});

test('while somebody makes or removes it, it is waited for', async () => {
  const key = put('a', 40);
  const lock = path.join(directory, `${key}.lock`);
  writeFileSync(lock, 'another');
  const evicting = setups.evict(limits, nobody);
  await expect.poll(() => existsSync(lock) && left().includes(key)).toBe(true);
  await rm(lock);
  expect(await evicting).toEqual([key]);
});

test('a store that is not there yet, and what a crash left half removed, are no trouble', async () => {
  mkdirSync(path.join(directory, '.evicted-dead'));
  expect(await setups.evict(limits, nobody)).toEqual([]);
  expect(left()).toEqual([]);
  const absent = createSetupStore({ directory: path.join(directory, 'absent'), newId: () => 'x', now: () => 0 });
  expect(await absent.evict(limits, nobody)).toEqual([]);
});
