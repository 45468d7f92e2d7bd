import { expect, test } from 'vitest';
import { describeCost, describeCount, describeDuration, describeSpan } from './describe-amounts.ts';

test.each([
  [0, '0.0 s'],
  [2_540, '2.5 s'],
  [31_000, '31 s'],
  [125_000, '2 min 5 s'],
  [3_599_700, '1 h 0 min'],
  [11_520_000, '3 h 12 min'],
])('%d ms read %s', (milliseconds, text) => {
  expect(describeDuration(milliseconds)).toBe(text);
});

test('a clock that went back is no negative time', () => {
  expect(describeSpan('2030-01-01T00:00:01.000Z', '2030-01-01T00:00:00.000Z')).toBe('0.0 s');
});

test.each([
  [null, 'cost unknown'],
  [0, '$0.00'],
  [1_234, '$0.0012'],
  [2_345_678, '$2.35'],
])('%s microdollars read %s', (microdollars, text) => {
  expect(describeCost(microdollars)).toBe(text);
});

test('thousands are whole once there are ten of them', () => {
  expect([9_999, 10_499, 1_234_567].map(describeCount)).toEqual(['9999', '10k', '1235k']);
});
