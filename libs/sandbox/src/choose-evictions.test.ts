import { expect, test } from 'vitest';
import { chooseEvictions } from './choose-evictions.ts';

const day = 24 * 3600 * 1000;
const now = 100 * day;
const setup = (key: string, days: number, bytes = 10) => ({ key, bytes, usedAt: now - days * day });
const keysOf = (...given: Parameters<typeof chooseEvictions>) => chooseEvictions(...given).map(({ key }) => key);

test('what was not used for too long goes, the oldest first', () => {
  const setups = [setup('a', 31), setup('b', 29), setup('c', 90)];
  expect(keysOf(setups, now, { keptMs: 30 * day, limitBytes: 1000 })).toEqual(['c', 'a']);
});

test('beyond the limit the ones go that were not used for longest, and no more than it takes', () => {
  const setups = [setup('new', 2), setup('middle', 5), setup('old', 9)];
  expect(keysOf(setups, now, { keptMs: 30 * day, limitBytes: 30 })).toEqual([]);
  expect(keysOf(setups, now, { keptMs: 30 * day, limitBytes: 29 })).toEqual(['old']);
  expect(keysOf(setups, now, { keptMs: 30 * day, limitBytes: 10 })).toEqual(['old', 'middle']);
});

test('what was used within a day stays, however large it is', () => {
  const setups = [setup('used', 0.9, 1e12), setup('old', 9)];
  expect(keysOf(setups, now, { keptMs: 0, limitBytes: 1 })).toEqual(['old']);
});
