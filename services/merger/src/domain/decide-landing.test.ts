import type { Change, Evidence } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideLanding, findEvidence, type LandingFacts } from './decide-landing.ts';

const commit = (letter: string) => letter.repeat(40) as CommitId;
const tree = (letter: string) => letter.repeat(40) as TreeId;
const change = (parts: Partial<Change> = {}): Change => ({
  commit: commit('c'),
  tree: tree('1'),
  base: commit('a'),
  bundle: 'run/build/1',
  diffIdentity: 'same',
  files: [],
  ...parts,
});
const passed = (letter: string, checks = ['npm test']): Evidence => ({ tree: tree(letter), image: 'box:1', checks });
const merged = change({ commit: commit('e'), tree: tree('2'), base: commit('d'), bundle: 'run/land/1' });

const onBase: LandingFacts = {
  head: commit('a'),
  headTree: tree('0'),
  approved: change(),
  candidate: undefined,
  evidence: [passed('1')],
  checks: { declared: [], unchecked: false },
  landed: undefined,
  merge: { kind: 'clean', change: change() },
};
const moved: LandingFacts = {
  ...onBase,
  head: commit('d'),
  headTree: tree('9'),
  merge: { kind: 'clean', change: merged },
};

test('a change whose tree passed is fast-forwarded while the branch is where it was', () => {
  expect(decideLanding(onBase)).toEqual({ kind: 'fast_forward', change: change(), evidence: passed('1') });
});

test('a change that nothing has tested is not landed even where it would fast-forward', () => {
  expect(decideLanding({ ...onBase, evidence: [] })).toEqual({ kind: 'unverified', candidate: change() });
});

test('on a moved branch the merge is a candidate until its own tree has passed', () => {
  expect(decideLanding(moved)).toEqual({ kind: 'unverified', candidate: merged });
});

test('a merge whose tree has passed lands', () => {
  expect(decideLanding({ ...moved, evidence: [passed('1'), passed('2')] })).toMatchObject({
    kind: 'merge',
    change: { commit: commit('e') },
    evidence: { tree: tree('2') },
  });
});

test('the very commit that was verified lands, not another one with the same tree', () => {
  const verified = { change: { ...merged, commit: commit('f') }, parents: [commit('d'), commit('c')] };
  expect(decideLanding({ ...moved, candidate: verified, evidence: [passed('2')] })).toMatchObject({
    kind: 'merge',
    change: { commit: commit('f') },
  });
});

test.each([
  ['a merge into an older head', [commit('b'), commit('c')]],
  ['a commit that does not hold what was approved', [commit('d')]],
  ['a merge with a third parent', [commit('d'), commit('c'), commit('b')]],
])('%s is no candidate any more', (_, parents) => {
  const stale = { change: { ...merged, commit: commit('f') }, parents };
  expect(decideLanding({ ...moved, candidate: stale, evidence: [passed('2')] })).toMatchObject({
    change: { commit: commit('e') },
  });
});

test('a merge that changes the branch in another way than was approved waits for a person, tested or not', () => {
  const other = { ...merged, diffIdentity: 'other' };
  expect(decideLanding({ ...moved, merge: { kind: 'clean', change: other }, evidence: [passed('2')] })).toEqual({
    kind: 'parked',
    candidate: other,
    reason: expect.stringContaining('no longer the one that was approved'),
  });
});

test('where the branch already holds all of it nothing is landed and nobody asked, tested or not', () => {
  const empty = { ...merged, tree: tree('9'), diffIdentity: 'empty' };
  const held: LandingFacts = { ...moved, merge: { kind: 'clean', change: empty } };
  expect(decideLanding(held)).toEqual({ kind: 'no_changes' });
  const approved = change({ diffIdentity: 'empty' });
  expect(decideLanding({ ...held, approved, evidence: [passed('9')] })).toEqual({ kind: 'no_changes' });
});

test('a conflict goes back with its paths', () => {
  expect(decideLanding({ ...moved, merge: { kind: 'conflict', paths: ['cart.ts'] } })).toEqual({
    kind: 'conflict',
    paths: ['cart.ts'],
  });
});

test('what has landed is not landed again, whatever else is true', () => {
  expect(decideLanding({ ...moved, landed: commit('f') })).toEqual({ kind: 'already_landed', commit: commit('f') });
});

test('evidence that names no check counts only for a project whose owner accepts that', () => {
  const nothingRan = [passed('1', [])];
  expect(findEvidence(tree('1'), nothingRan, { declared: [], unchecked: false })).toBeUndefined();
  expect(findEvidence(tree('1'), nothingRan, { declared: [], unchecked: true })).toEqual(nothingRan[0]);
});

test('evidence that misses a declared check does not count', () => {
  expect(findEvidence(tree('1'), [passed('1')], { declared: ['npm test', 'npm run lint'], unchecked: false })).toBe(
    undefined,
  );
});

const letters = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const anyChange = fc.record({
  commit: letters.map(commit),
  tree: letters.map(tree),
  base: letters.map(commit),
  bundle: fc.constant('b'),
  diffIdentity: letters,
  files: fc.constant<Change['files']>([]),
});
const anyFacts: fc.Arbitrary<LandingFacts> = fc.record({
  head: letters.map(commit),
  headTree: letters.map(tree),
  approved: anyChange,
  candidate: fc.option(fc.record({ change: anyChange, parents: fc.array(letters.map(commit), { maxLength: 3 }) }), {
    nil: undefined,
  }),
  evidence: fc.array(
    fc.record({ tree: letters.map(tree), image: fc.constant('box:1'), checks: fc.subarray(['test', 'lint']) }),
    { maxLength: 4 },
  ),
  checks: fc.record({ declared: fc.subarray(['test', 'lint']), unchecked: fc.boolean() }),
  landed: fc.option(letters.map(commit), { nil: undefined, freq: 5 }),
  merge: fc.oneof(
    anyChange.map((merged) => ({ kind: 'clean' as const, change: merged })),
    fc.constant({ kind: 'conflict' as const, paths: ['x'] }),
  ),
});

test('whatever the facts, nothing moves the branch to a tree without passing evidence for exactly that tree', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const landing = decideLanding(facts);
      if (landing.kind !== 'fast_forward' && landing.kind !== 'merge') return;
      expect(landing.evidence.tree).toBe(landing.change.tree);
      expect(facts.evidence).toContainEqual(landing.evidence);
      expect(landing.evidence.checks).toEqual(expect.arrayContaining([...facts.checks.declared]));
    }),
    { numRuns: 2_000 },
  );
});

test('whatever the facts, nothing moves the branch by another diff than the approved one', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const landing = decideLanding(facts);
      if (landing.kind !== 'fast_forward' && landing.kind !== 'merge') return;
      expect(landing.change.diffIdentity).toBe(facts.approved.diffIdentity);
    }),
    { numRuns: 2_000 },
  );
});

test('whatever the facts, a fast-forward only moves the branch on from where it is', () => {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      if (decideLanding(facts).kind === 'fast_forward') expect(facts.approved.base).toBe(facts.head);
    }),
    { numRuns: 2_000 },
  );
});
