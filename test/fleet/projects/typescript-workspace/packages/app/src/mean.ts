import invariant from '@toolkit/invariant';
import memoizeOne from '@toolkit/memoize';

/** The mean of some numbers, computed once for the same numbers. */
export const mean = memoizeOne((...numbers: number[]): number => {
  invariant(numbers.length > 0, 'the mean of nothing');
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
});
