import type { Change } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { decideStart } from './decide-start.ts';

const commit = (letter: string) => letter.repeat(40) as CommitId;
const base = { commit: commit('a'), bundle: 'base/a' };
const change: Change = {
  commit: commit('c'),
  tree: 'b'.repeat(40) as TreeId,
  base: commit('a'),
  bundle: 'run/build/1',
  diffIdentity: 'd',
  files: [],
};
const turn = { type: 'agent.turn', payload: {} };
const checkpoint = (letter: string | null) => ({
  type: 'agent.checkpoint',
  payload:
    letter === null
      ? { turn: 1, commit: null, tree: null, bundle: null }
      : { turn: 2, commit: commit(letter), tree: commit(letter), bundle: `run/build/1/${letter}` },
});

test('a first build starts from the base', () => {
  expect(decideStart(base, undefined, [])).toEqual({ ...base, resumed: false });
});

test('a change on the same base is gone on with', () => {
  expect(decideStart(base, change, [])).toEqual({ commit: commit('c'), bundle: 'run/build/1', resumed: false });
});

test('a change that met a conflict starts anew from the base it met', () => {
  expect(decideStart({ commit: commit('9'), bundle: 'base/9' }, change, [])).toEqual({
    commit: commit('9'),
    bundle: 'base/9',
    resumed: false,
  });
});

test('a resumed attempt goes on from its last checkpoint', () => {
  expect(decideStart(base, change, [turn, checkpoint('e'), turn, checkpoint('f'), turn])).toEqual({
    commit: commit('f'),
    bundle: 'run/build/1/f',
    resumed: true,
  });
});

test('a resumed attempt that had changed nothing goes on from where it began', () => {
  expect(decideStart(base, change, [turn])).toMatchObject({ commit: commit('c'), resumed: true });
  expect(decideStart(base, change, [turn, checkpoint('e'), turn, checkpoint(null)])).toMatchObject({
    commit: commit('c'),
    resumed: true,
  });
});

test('entries that are no work of the agent do not make a resumption', () => {
  expect(decideStart(base, undefined, [{ type: 'step.started', payload: {} }])).toMatchObject({ resumed: false });
});
