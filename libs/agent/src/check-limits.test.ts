import { nothingSpent } from '@flotilla/contracts/allowance';
import { expect, test } from 'vitest';
import { findNear, findReached } from './check-limits.ts';

const allowance = { turns: 10, calls: 10, tokens: 1000, microdollars: 100, seconds: 60 };

test.each([
  ['nothing spent', {}, undefined],
  ['all turns', { turns: 10 }, 'turns'],
  ['more tokens than allowed', { tokens: 1001 }, 'tokens'],
  ['all money', { microdollars: 100 }, 'microdollars'],
  ['an unknown cost', { microdollars: null }, undefined],
  ['all time', { seconds: 60 }, 'seconds'],
])('%s reaches %s', (_, spent, limit) => {
  expect(findReached(allowance, { ...nothingSpent, ...spent })).toBe(limit);
});

test('no money allows a model whose price is not known, and one turn of any other', () => {
  const broke = { ...allowance, microdollars: 0 };
  expect(findReached(broke, nothingSpent)).toBeUndefined();
  expect(findReached(broke, { ...nothingSpent, microdollars: null })).toBeUndefined();
  expect(findReached(broke, { ...nothingSpent, microdollars: 1 })).toBe('microdollars');
});

test('four fifths of a limit are near it', () => {
  expect(findNear(allowance, { ...nothingSpent, turns: 7 })).toEqual([]);
  expect(findNear(allowance, { ...nothingSpent, turns: 8, seconds: 50 }).map(({ code }) => code)).toEqual([
    'LIMIT_NEAR_TURNS',
    'LIMIT_NEAR_SECONDS',
  ]);
});
