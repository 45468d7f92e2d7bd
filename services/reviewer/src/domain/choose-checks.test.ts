import { expect, test } from 'vitest';
import { chooseChecks } from './choose-checks.ts';

test('declared checks run and nothing is guessed beside them', () => {
  expect(chooseChecks({ checks: ['make check'], unchecked: false }, ['npm test'])).toEqual({
    kind: 'run',
    commands: ['make check'],
  });
});

test('a declared check runs even where the owner would accept none', () => {
  expect(chooseChecks({ checks: ['make check'], unchecked: true }, [])).toMatchObject({ kind: 'run' });
});

test('without declared checks the detected ones run', () => {
  expect(chooseChecks({ checks: [], unchecked: false }, ['npm test'])).toEqual({ kind: 'run', commands: ['npm test'] });
});

test('a project without any check is an error unless its owner said that none is wanted', () => {
  expect(chooseChecks({ checks: [], unchecked: false }, [])).toEqual({ kind: 'missing' });
  expect(chooseChecks({ checks: [], unchecked: true }, ['npm test'])).toEqual({ kind: 'unchecked' });
});
