import assert from 'node:assert/strict';
import { test } from 'node:test';
import memoizeOne from '@toolkit/memoize';
import { mean } from './mean';

test('the mean of two numbers lies between them', () => {
  assert.equal(mean(1, 3), 2);
});

test('the mean of nothing is refused with a reason', () => {
  assert.throws(() => mean(), /the mean of nothing/);
});

test('the same input is computed once, NaN included', () => {
  let calls = 0;
  const double = memoizeOne((value: number) => {
    calls += 1;
    return value * 2;
  });
  double(NaN);
  double(NaN);
  assert.equal(calls, 1);
});
