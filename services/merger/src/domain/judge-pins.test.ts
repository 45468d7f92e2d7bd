import { runResults } from '@flotilla/contracts/events/run-events';
import { expect, test } from 'vitest';
import { arePinsSpent } from './judge-pins.ts';

const endedAt = new Date('2030-01-01T00:00:00.000Z');
const daysLater = (days: number) => new Date(endedAt.getTime() + days * 24 * 3600 * 1000);

test.each(runResults)(
  'the commits of a run that ended as %s are kept as long as somebody may look for them',
  (result) => {
    const end = { result, at: endedAt.toISOString() };
    const settled = result === 'landed' || result === 'no_changes';
    expect(arePinsSpent(end, endedAt)).toBe(settled);
    expect(arePinsSpent(end, daysLater(6))).toBe(settled);
    expect(arePinsSpent(end, daysLater(8))).toBe(true);
  },
);

test('a run that has not ended, or that nobody knows, keeps its commits for ever', () => {
  expect(arePinsSpent(undefined, daysLater(3_650))).toBe(false);
});
