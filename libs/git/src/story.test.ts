import { expect, test } from 'vitest';
import { captureChange } from './capture-change.ts';
import { createBundle } from './bundle.ts';
import { ensureCommit, hasWholeCommit } from './ensure-commit.ts';
import { findLanded, pushCommit, readHead } from './landing.ts';
import { layTree } from './lay-tree.ts';
import { mergeOnto } from './merge.ts';
import { makeThrowAwayRepository } from './throw-away-repository.ts';
import { diffCommits } from './diff.ts';
import { diffIdentity } from './diff-identity.ts';
import { resolveBranch } from './resolve-branch.ts';
import {
  at,
  emptyWorkspace,
  landStepId,
  makeRemote,
  mirrorOf,
  occasion,
  plainGit,
  runId,
  writeFiles,
} from './scratch.fixture.ts';

test('a change goes from the remote through a workspace back to the remote', async () => {
  const remote = makeRemote({ 'a.txt': 'one\n', 'src/b.ts': 'export {};\n', '.gitignore': 'dist\n' });
  const mirror = await mirrorOf(remote.bare);
  const { branch, commit: base } = await resolveBranch(mirror);
  expect(branch).toBe('main');
  await ensureCommit(mirror, base);
  const workspace = emptyWorkspace();
  await layTree(mirror, { commit: base, directory: workspace });
  await makeThrowAwayRepository(mirror, { commit: base, directory: workspace });
  expect(plainGit(workspace, 'status', '--porcelain')).toBe('');
  writeFiles(workspace, { 'a.txt': 'two\n', 'dist/out.js': 'x', 'new/c.txt': 'c\n' });
  const change = await captureChange(mirror, { base, directory: workspace, message: 'Change a', occasion, at });
  if (change.kind !== 'changed') throw new Error('expected a change');
  expect(change.files.map(({ path, status }) => `${status} ${path}`)).toEqual(['modified a.txt', 'added new/c.txt']);
  const diff = await diffCommits(mirror, base, change.commit, { limitBytes: 100_000 });
  expect(diff.text).toContain('-one\n+two\n');

  const bundle = await createBundle(mirror, { commit: change.commit, exclude: [base] });
  const merger = await mirrorOf(remote.bare);
  await ensureCommit(merger, change.commit, { loadBundle: () => Promise.resolve(bundle) });
  expect(await hasWholeCommit(merger, change.commit)).toBe(true);

  remote.checkout.commit({ 'other.txt': 'o\n' });
  remote.push();
  const head = await readHead(merger, 'main');
  const landing = { runId, stepId: landStepId };
  expect(
    await findLanded(merger, { head: head.commit, since: base, change: change.commit, ...landing }),
  ).toBeUndefined();
  const merge = await mergeOnto(merger, {
    head: head.commit,
    change: change.commit,
    message: 'Land a',
    occasion: landing,
    at,
  });
  if (merge.kind !== 'merged') throw new Error(`expected a merge, got ${merge.kind}`);
  expect(await diffIdentity(merger, head.commit, merge.commit)).toBe(await diffIdentity(merger, base, change.commit));
  const push = await pushCommit(merger, { commit: merge.commit, branch: 'main', expectedOld: head.commit });
  expect(push).toEqual({ kind: 'landed', commit: merge.commit, tree: merge.tree, head: merge.commit });
  expect(remote.read('show', 'main:a.txt')).toBe('two');
  const after = await readHead(merger, 'main');
  expect(await findLanded(merger, { head: after.commit, since: base, change: change.commit, ...landing })).toEqual({
    kind: 'merge',
    commit: merge.commit,
  });
});
