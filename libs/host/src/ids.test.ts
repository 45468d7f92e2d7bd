import { randomBytes } from 'node:crypto';
import { GateId, RunId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { createIds } from './ids.ts';

test('ids are of the form their contracts want, sort by time and never repeat', () => {
  let now = Date.UTC(2030, 0, 1);
  const ids = createIds(() => new Date((now += 1)), randomBytes);
  const runs = Array.from({ length: 500 }, () => RunId.parse(ids.newRunId()));
  expect(runs.toSorted()).toEqual(runs);
  expect(new Set(runs).size).toBe(runs.length);
  expect(GateId.safeParse(ids.newGateId()).success).toBe(true);
});
