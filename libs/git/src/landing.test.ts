import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommitId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { captureChange } from './capture-change.ts';
import { ensureCommit } from './ensure-commit.ts';
import { findLanded, pushCommit, readHead } from './landing.ts';
import { layTree } from './lay-tree.ts';
import { mergeOnto } from './merge.ts';
import type { Mirror } from './mirror.ts';
import {
  at,
  emptyWorkspace,
  writeFiles,
  landStepId,
  makeRemote,
  mirrorOf,
  otherRunId,
  runId,
  type Files,
  type ScratchRemote,
} from './scratch.fixture.ts';

const occasion = { runId, stepId: landStepId };

interface Bench {
  readonly remote: ScratchRemote;
  readonly mirror: Mirror;
  readonly base: CommitId;
  /** A commit on the base that only the mirror has. */
  change(files: Files): Promise<CommitId>;
  /** A commit by somebody else on the remote's main. */
  others(files: Files, message?: string): CommitId;
}

async function layBench(files: Files = { 'a.txt': 'a\n', 'b.txt': 'b\n' }): Promise<Bench> {
  const remote = makeRemote(files);
  const mirror = await mirrorOf(remote.bare);
  const { commit: base } = await readHead(mirror, 'main');
  const { checkout } = remote;
  return {
    remote,
    mirror,
    base,
    async change(changed) {
      checkout.git('checkout', '-q', '--detach', base);
      const made = checkout.commit(changed);
      checkout.git('update-ref', 'refs/made/one', made);
      await mirror.withLock((locked) =>
        locked.run({
          args: ['fetch', '--quiet', checkout.directory, 'refs/made/one'],
          settings: [['protocol.file.allow', 'always']],
          variables: { GIT_ALLOW_PROTOCOL: 'file' },
        }),
      );
      return made;
    },
    others(changed, message) {
      checkout.git('fetch', '-q', 'origin', 'main');
      checkout.git('checkout', '-q', '--detach', 'FETCH_HEAD');
      const made = checkout.commit(changed, message);
      remote.push();
      return made;
    },
  };
}

test('a change on the present head is a fast-forward and keeps its id', async () => {
  const { mirror, base, change } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  expect(await mergeOnto(mirror, { head: base, change: commit, message: 'm', occasion, at })).toMatchObject({
    kind: 'fast-forward',
    commit,
  });
});

test('a change that the head already reaches is contained', async () => {
  const { mirror, base, others } = await layBench();
  others({ 'c.txt': 'c\n' });
  const { commit: head } = await readHead(mirror, 'main');
  expect(await mergeOnto(mirror, { head, change: base, message: 'm', occasion, at })).toEqual({ kind: 'contained' });
});

test('a merge has the head as first and the reviewed commit as second parent, and repeating it gives the same commit', async () => {
  const { mirror, change, others } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  const head = others({ 'b.txt': 'y\n' });
  await ensureCommit(mirror, head);
  const request = { head, change: commit, message: 'Land it', occasion, at };
  const merge = await mergeOnto(mirror, request);
  if (merge.kind !== 'merged') throw new Error(merge.kind);
  expect(await mergeOnto(mirror, request)).toEqual(merge);
  const shown = await mirror.run({ args: ['log', '-1', '--format=%P%n%s%n%(trailers)', merge.commit] });
  expect(String(shown.stdout).trim()).toBe(`${head} ${commit}\nLand it\nFlotilla-Run: ${runId}\nFlotilla-Step: land`);
  for (const [path, content] of [
    ['a.txt', 'x\n'],
    ['b.txt', 'y\n'],
  ]) {
    expect(String((await mirror.run({ args: ['cat-file', 'blob', `${merge.commit}:${path}`] })).stdout)).toBe(content);
  }
});

test('a conflict names its paths and leaves every ref alone', async () => {
  const { mirror, remote, change, others } = await layBench();
  const commit = await change({ 'a.txt': 'x\n', 'b\n"odd.txt': '1' });
  const head = others({ 'a.txt': 'y\n', 'b\n"odd.txt': '2' });
  await ensureCommit(mirror, head);
  const before = String((await mirror.run({ args: ['for-each-ref'] })).stdout);
  const merge = await mergeOnto(mirror, { head, change: commit, message: 'm', occasion, at });
  expect(merge).toMatchObject({ kind: 'conflict', paths: ['a.txt', 'b\n"odd.txt'] });
  expect(merge.kind === 'conflict' && merge.messages.join('\n')).toContain(
    'CONFLICT (content): Merge conflict in a.txt',
  );
  expect(String((await mirror.run({ args: ['for-each-ref'] })).stdout)).toBe(before);
  expect(remote.read('rev-parse', 'main')).toBe(head);
});

test('a deletion against a change is a conflict as well', async () => {
  const { mirror, remote, base, change, others } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  remote.checkout.git('checkout', '-q', '--detach', base);
  remote.checkout.git('rm', '-q', 'a.txt');
  const head = others({});
  await ensureCommit(mirror, head);
  expect(await mergeOnto(mirror, { head, change: commit, message: 'm', occasion, at })).toMatchObject({
    kind: head === base ? 'fast-forward' : 'conflict',
  });
});

test('a branch that was rewritten without common history conflicts with all of the change', async () => {
  const { mirror, remote, change } = await layBench();
  const commit = await change({ 'a.txt': 'x\n', 'new.txt': 'n\n' });
  remote.checkout.git('checkout', '-q', '--orphan', 'anew');
  remote.checkout.git('commit', '-q', '--allow-empty', '-m', 'anew');
  remote.checkout.git('push', '-q', '--force', 'origin', 'HEAD:main');
  const head = remote.checkout.git('rev-parse', 'HEAD') as CommitId;
  await ensureCommit(mirror, head);
  expect(await mergeOnto(mirror, { head, change: commit, message: 'm', occasion, at })).toEqual({
    kind: 'conflict',
    paths: ['a.txt', 'new.txt'],
    messages: [expect.stringContaining('no history')],
  });
});

test('a push moves the branch, reads it back and can be repeated', async () => {
  const { mirror, remote, base, change } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  const landed = { kind: 'landed', commit, tree: remote.checkout.git('rev-parse', `${commit}^{tree}`), head: commit };
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: base })).toEqual(landed);
  expect(remote.read('rev-parse', 'main')).toBe(commit);
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: base })).toEqual(landed);
});

test('a push that had worked is still landed when others built on it', async () => {
  const { mirror, base, change, others } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  await pushCommit(mirror, { commit, branch: 'main', expectedOld: base });
  const head = others({ 'c.txt': 'c\n' });
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: base })).toMatchObject({
    kind: 'landed',
    commit,
    head,
  });
});

test('history is never forced away, even with the right old value', async () => {
  const { mirror, remote, change, others } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  const head = others({ 'c.txt': 'c\n' });
  await ensureCommit(mirror, head);
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: head })).toMatchObject({
    kind: 'refused',
    reason: 'not-a-fast-forward',
  });
  expect(remote.read('rev-parse', 'main')).toBe(head);
});

test('a new branch is made only where there is none', async () => {
  const { mirror, remote, change, base } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  expect(await pushCommit(mirror, { commit, branch: 'flotilla/one', expectedOld: null })).toMatchObject({
    kind: 'landed',
  });
  expect(remote.read('rev-parse', 'flotilla/one')).toBe(commit);
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: null })).toEqual({
    kind: 'moved',
    head: base,
  });
});

test('a branch that somebody took back stays where it is, though the commit builds on that too', async () => {
  const { mirror, remote, base, change, others } = await layBench();
  const approved = await change({ 'a.txt': 'x\n' });
  const head = others({ 'c.txt': 'c\n' });
  await ensureCommit(mirror, head);
  const merged = await mergeOnto(mirror, {
    head,
    change: approved,
    message: 'Merge',
    occasion: { ...occasion, attempt: 1 },
    at,
  });
  if (merged.kind !== 'merged') throw new Error(`unexpected ${merged.kind}`);
  remote.read('update-ref', 'refs/heads/main', base);
  expect(await pushCommit(mirror, { commit: merged.commit, branch: 'main', expectedOld: head })).toEqual({
    kind: 'moved',
    head: base,
  });
  expect(remote.read('rev-parse', 'main')).toBe(base);
});

test('a push that the remote takes and undoes at once is not landed', async () => {
  const { mirror, remote, base, change } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  const hook = join(remote.bare, 'hooks', 'post-receive');
  writeFileSync(hook, `#!/bin/sh\ngit update-ref refs/heads/main ${base}\n`);
  chmodSync(hook, 0o755);
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: base })).toEqual({
    kind: 'moved',
    head: base,
  });
});

test('a branch that is gone is told as moved to nowhere', async () => {
  const { mirror, remote, change, base } = await layBench();
  const commit = await change({ 'a.txt': 'x\n' });
  remote.push('keep');
  remote.read('update-ref', '-d', 'refs/heads/main');
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: base })).toEqual({
    kind: 'moved',
    head: null,
  });
});

test('of many mirrors that race for one remote exactly one wins and the others learn the new head', async () => {
  const { remote, base } = await layBench();
  const racers = await Promise.all(
    Array.from({ length: 5 }, async (_, index) => {
      const mirror = await mirrorOf(remote.bare);
      await ensureCommit(mirror, base);
      const tree = String((await mirror.run({ args: ['rev-parse', `${base}^{tree}`] })).stdout).trim();
      const made = await mirror.run({
        args: ['commit-tree', tree, '-p', base, '-m', `Racer ${index}`],
        variables: { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' },
      });
      return { mirror, commit: CommitId.parse(String(made.stdout).trim()) };
    }),
  );
  const pushes = await Promise.all(
    racers.map(({ mirror, commit }) => pushCommit(mirror, { commit, branch: 'main', expectedOld: base })),
  );
  const winner = pushes.filter(({ kind }) => kind === 'landed');
  expect(winner).toHaveLength(1);
  const head = remote.read('rev-parse', 'main');
  expect(winner[0]).toMatchObject({ commit: head });
  expect(pushes.filter(({ kind }) => kind !== 'landed')).toEqual(
    Array.from({ length: 4 }, () => ({ kind: 'moved', head })),
  );
});

test('a repository with the branch checked out refuses with advice and stays as it is', async () => {
  const remote = makeRemote();
  remote.checkout.git('config', 'receive.denyCurrentBranch', 'refuse');
  const mirror = await mirrorOf(remote.checkout.directory);
  const { commit: base } = await readHead(mirror, 'main');
  const made = await mergeOnto(mirror, { head: base, change: base, message: 'm', occasion, at });
  expect(made.kind).toBe('contained');
  const tree = remote.checkout.git('rev-parse', 'HEAD^{tree}');
  const commit = CommitId.parse(
    String(
      (
        await mirror.run({
          args: ['commit-tree', tree, '-p', base, '-m', 'x'],
          variables: { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' },
        })
      ).stdout,
    ).trim(),
  );
  const push = await pushCommit(mirror, { commit, branch: 'main', expectedOld: base });
  expect(push).toMatchObject({
    kind: 'refused',
    reason: 'checked-out',
    advice: expect.stringContaining('bare repository'),
  });
  expect(remote.checkout.git('rev-parse', 'main')).toBe(base);
  expect(await pushCommit(mirror, { commit, branch: 'other', expectedOld: null })).toMatchObject({ kind: 'landed' });
});

test.each([
  ['echo "deploy key may not touch this"; exit 1', 'hook', 'deploy key may not touch this'],
  ['echo "GH006: Protected branch update failed for refs/heads/main."; exit 1', 'protected-branch', 'GH006'],
])('a remote whose hook says %s refuses with its reason', async (script, reason, text) => {
  const { mirror, remote, base, change } = await layBench();
  writeFileSync(join(remote.bare, 'hooks', 'pre-receive'), `#!/bin/sh\n${script} >&2\n`, { mode: 0o755 });
  chmodSync(join(remote.bare, 'hooks', 'pre-receive'), 0o755);
  const commit = await change({ 'a.txt': 'x\n' });
  expect(await pushCommit(mirror, { commit, branch: 'main', expectedOld: base })).toMatchObject({
    kind: 'refused',
    reason,
    text: expect.stringMatching(new RegExp(`^${text}.*\\n.*pre-receive hook declined`)),
  });
  expect(remote.read('rev-parse', 'main')).toBe(base);
});

test('a merge is found again in the history by its trailer, as long as it holds the reviewed commit', async () => {
  const { mirror, base, change, others } = await layBench();
  const reviewed = await change({ 'a.txt': 'x\n' });
  const head = others({ 'c.txt': 'c\n' });
  await ensureCommit(mirror, head);
  const query = { since: base, change: reviewed, runId, stepId: landStepId };
  expect(await findLanded(mirror, { ...query, head })).toBeUndefined();
  const merge = await mergeOnto(mirror, { head, change: reviewed, message: 'm', occasion, at });
  if (merge.kind !== 'merged') throw new Error(merge.kind);
  await pushCommit(mirror, { commit: merge.commit, branch: 'main', expectedOld: head });
  const later = others({ 'd.txt': 'd\n' });
  await ensureCommit(mirror, later);
  expect(await findLanded(mirror, { ...query, head: later })).toEqual({ kind: 'merge', commit: merge.commit });
  expect(await findLanded(mirror, { ...query, head: later, runId: otherRunId })).toEqual({
    kind: 'contained',
    commit: reviewed,
  });
});

test('a fast-forward is found by the reviewed commit itself, and a trailer that others wrote proves nothing', async () => {
  const { mirror, base, change, others } = await layBench();
  const reviewed = await change({ 'a.txt': 'x\n' });
  const query = { since: base, change: reviewed, runId, stepId: landStepId };
  const forged = others({ 'e.txt': 'e' }, `Forged\n\nFlotilla-Run: ${runId}\nFlotilla-Step: land`);
  await ensureCommit(mirror, forged);
  expect(await findLanded(mirror, { ...query, head: forged })).toBeUndefined();
  const stranger = CommitId.parse('2'.repeat(40));
  expect(await findLanded(mirror, { ...query, head: forged, change: stranger })).toBeUndefined();
  expect(await findLanded(mirror, { ...query, head: reviewed })).toEqual({ kind: 'contained', commit: reviewed });
});

test('a merge with our trailers that brings another commit is not the merge of this step', async () => {
  const { mirror, base, change, others } = await layBench();
  const reviewed = await change({ 'a.txt': 'x\n' });
  const head = others({ 'e.txt': 'e' });
  await ensureCommit(mirror, head);
  const landed = await mergeOnto(mirror, { head: reviewed, change: head, message: 'm', occasion, at });
  if (landed.kind !== 'merged') throw new Error(landed.kind);
  const query = { since: base, change: reviewed, runId, stepId: landStepId, head: landed.commit };
  expect(await findLanded(mirror, query)).toEqual({ kind: 'contained', commit: reviewed });
});

test('many approved changes that land at once without any lease all arrive, one after the other', async () => {
  const { remote, base, mirror: first } = await layBench();
  const landAll = Array.from({ length: 5 }, async (_, index) => {
    const mirror = await mirrorOf(remote.bare);
    await ensureCommit(mirror, base);
    const directory = emptyWorkspace();
    await layTree(mirror, { commit: base, directory });
    writeFiles(directory, { [`from-${index}.txt`]: 'x' });
    const change = await captureChange(mirror, { base, directory, message: `Change ${index}`, occasion, at });
    if (change.kind !== 'changed') throw new Error(change.kind);
    for (;;) {
      const { commit: head } = await readHead(mirror, 'main');
      const merge = await mergeOnto(mirror, { head, change: change.commit, message: 'Land', occasion, at });
      if (merge.kind !== 'merged' && merge.kind !== 'fast-forward') throw new Error(merge.kind);
      const push = await pushCommit(mirror, { commit: merge.commit, branch: 'main', expectedOld: head });
      if (push.kind === 'landed') return change.commit;
      expect(push.kind).toBe('moved');
    }
  });
  const changes = await Promise.all(landAll);
  const { commit: head } = await readHead(first, 'main');
  expect(
    remote
      .read('ls-tree', '--name-only', 'main')
      .split('\n')
      .filter((name) => name.startsWith('from-')),
  ).toHaveLength(5);
  for (const change of changes) {
    expect(await findLanded(first, { head, since: base, change, runId, stepId: landStepId })).toBeDefined();
  }
  expect(remote.read('rev-list', '--count', '--first-parent', `${base}..main`)).toBe('5');
});
