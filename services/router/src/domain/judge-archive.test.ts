import { RunId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { archiveBefore, isDue, whyKept } from './judge-archive.ts';

const runId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');
const retry = RunId.parse('run_01j9z3k9aaaaaaaaaaaaaaaaaa');
const at = (day: number) => new Date(Date.UTC(2030, 0, day));

test.each([
  ['under way', { endedAt: undefined, retry: undefined }, 'RUN_NOT_ENDED'],
  ['ended', { endedAt: at(1), retry: undefined }, undefined],
  ['ended while its task is done again', { endedAt: at(1), retry }, 'ARCHIVE_RETRY_UNDER_WAY'],
])('a run that is %s may be archived, or is kept for a reason', (_, facts, code) => {
  expect(whyKept({ runId, ...facts })?.code).toBe(code);
  if (code !== undefined) expect(isDue({ runId, ...facts }, at(900))).toBe(false);
});

test('a run is due once it ended longer ago than the days that are given', () => {
  const facts = { runId, endedAt: at(1), retry: undefined };
  expect([1, 90, 91, 92].map((day) => isDue(facts, archiveBefore(at(day), 90)))).toEqual([false, false, false, true]);
  expect(isDue(facts, archiveBefore(at(2), 0))).toBe(true);
});
