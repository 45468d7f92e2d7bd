import type { Change } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideBuild, type BuildEnd } from './decide-build.ts';

const change: Change = {
  commit: 'c'.repeat(40) as CommitId,
  tree: 'b'.repeat(40) as TreeId,
  base: 'a'.repeat(40) as CommitId,
  bundle: 'run/build/1',
  diffIdentity: 'd',
  files: [],
};

test('a finished agent that changed files is done', () => {
  expect(decideBuild({ kind: 'finished', summary: 'Digits are kept.' }, change)).toEqual({
    kind: 'done',
    result: { verb: 'build', change, summary: 'Digits are kept.' },
  });
});

test('a finished agent whose workspace equals the base changed nothing, and says why', () => {
  expect(decideBuild({ kind: 'finished', summary: 'It already works.' }, undefined)).toEqual({
    kind: 'no_changes',
    reason: 'It already works.',
  });
});

test('an agent that did not finish never hands on a change, whatever it left in the workspace', () => {
  const ends: fc.Arbitrary<BuildEnd> = fc.oneof(
    fc.record({ kind: fc.constant('limit_reached' as const), limit: fc.string() }),
    fc.constant({ kind: 'cancelled' as const }),
    fc.record({ kind: fc.constant('failed' as const), code: fc.string(), message: fc.string(), advice: fc.string() }),
  );
  fc.assert(
    fc.property(ends, (end) => {
      expect(decideBuild(end, change)).toEqual(end);
    }),
  );
});
