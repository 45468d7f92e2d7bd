import { ChangeCaptured } from '@flotilla/contracts/events/step-events';
import type { StepId } from '@flotilla/contracts/ids';
import { CommitId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { chooseSalvage } from './choose-salvage.ts';

const at = '2030-01-01T00:00:00.000Z';
const idOf = (digit: string) => CommitId.parse(digit.repeat(40));
const opened = {
  type: 'repository.opened',
  stepId: 'open' as StepId,
  attempt: 1,
  at,
  payload: { repository: 'git.example.com/shop', branch: 'main', commit: idOf('0'), tree: idOf('e'), files: 3 },
};
const checkpoint = (
  turn: number,
  digit: string | null,
  { step = 'build', attempt = 1, bundle = `b/${digit}` } = {},
) => ({
  type: 'agent.checkpoint',
  stepId: step as StepId,
  attempt,
  at,
  payload: {
    turn,
    commit: digit === null ? null : idOf(digit),
    tree: digit === null ? null : idOf('f'),
    bundle: digit === null ? null : bundle,
  },
});
const captured = (digit: string) => ({
  type: 'change.captured',
  stepId: 'build' as StepId,
  attempt: 1,
  at,
  payload: {
    ...ChangeCaptured.example,
    change: {
      ...ChangeCaptured.payload.parse(ChangeCaptured.example).change,
      commit: idOf(digit),
      bundle: 'handed-in',
    },
  },
});
const commitOf = (...parameters: Parameters<typeof chooseSalvage>) => chooseSalvage(...parameters)?.work.commit;

test('the last checkpoint of the last attempt is the newest work', () => {
  const entries = [opened, checkpoint(1, '1'), checkpoint(4, '2'), checkpoint(2, '3', { attempt: 2 })];
  expect(chooseSalvage(entries, {})).toEqual({
    repository: 'git.example.com/shop',
    work: { stepId: 'build', attempt: 2, turn: 2, commit: idOf('3'), bundle: 'b/3', at },
  });
});

test('what was handed in is newer than the checkpoints before it, and older than those after', () => {
  expect(chooseSalvage([opened, checkpoint(1, '1'), captured('2')], {})?.work).not.toHaveProperty('turn');
  expect(commitOf([opened, captured('2'), checkpoint(1, '3', { attempt: 2 })], {})).toBe(idOf('3'));
});

test('an attempt that took everything back has no work, and hides none of an earlier attempt', () => {
  expect(chooseSalvage([opened, checkpoint(1, '1'), checkpoint(2, null)], {})).toBeUndefined();
  const asBase = checkpoint(2, '0', { bundle: `base/${idOf('0')}` });
  expect(chooseSalvage([opened, checkpoint(1, '1'), asBase], {})).toBeUndefined();
  expect(commitOf([opened, checkpoint(1, '1'), checkpoint(1, null, { attempt: 2 })], {})).toBe(idOf('1'));
});

test('a step that is named is asked alone', () => {
  const entries = [opened, checkpoint(1, '1'), checkpoint(1, '2', { step: 'rework' })];
  expect(commitOf(entries, {})).toBe(idOf('2'));
  expect(commitOf(entries, { stepId: 'build' as StepId })).toBe(idOf('1'));
  expect(chooseSalvage(entries, { stepId: 'plan' as StepId })).toBeUndefined();
});

test('a commit that is named is found whatever came after it', () => {
  const entries = [opened, checkpoint(1, '1'), checkpoint(2, '2'), checkpoint(3, null)];
  expect(commitOf(entries, { commit: idOf('1') })).toBe(idOf('1'));
  expect(chooseSalvage(entries, { commit: idOf('9') })).toBeUndefined();
});

test('a run whose repository was never opened has no work', () => {
  expect(chooseSalvage([], {})).toBeUndefined();
});
