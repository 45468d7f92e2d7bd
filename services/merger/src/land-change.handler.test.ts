import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createGit, type RunGit } from '@flotilla/git/run-git';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import type { Outcome } from '@flotilla/contracts/outcome';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { ChangeLanded, ChangeMerged } from '@flotilla/contracts/events/step-events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LandingScene, passed } from './land-change.fixture.ts';
import { LandChangeHandler, type LandingTarget } from './land-change.handler.ts';
import type { MergeLease } from './lease/merge-lease.ts';

let scene: LandingScene;
beforeEach(() => {
  scene = new LandingScene();
});
afterEach(() => scene.remove());

const context = () => new MemoryStepContext();

test('an approved change whose tree passed is on the branch afterwards, and the entry shows the diff that landed', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const answer = await scene.merger().work(scene.request(approved), context());

  expect(answer.outcome).toEqual({
    kind: 'done',
    result: { verb: 'land', commit: approved.commit, tree: approved.tree, branch: 'main' },
  });
  expect(scene.remote.head()).toBe(approved.commit);
  expect(answer.entries).toEqual([
    {
      type: 'change.landed',
      payload: {
        branch: 'main',
        how: 'fast_forward',
        commit: approved.commit,
        tree: approved.tree,
        previous: scene.base,
        diff: expect.stringMatching(/^-one\n\+two$/m),
        diffTruncated: false,
      },
    },
  ]);
  expect(ChangeLanded.payload.safeParse(answer.entries?.[0]?.payload).error).toBeUndefined();
});

test('a branch that is gone when its change is to land is told as gone, with where the change is, and is not made anew', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  const gone = {
    code: 'BRANCH_GONE',
    remedy: 'caller',
    advice: expect.stringContaining(`flotilla diff ${request.runId}`),
  };
  scene.remote.git('update-ref', 'refs/heads/other', scene.base);
  for (const branch of ['main', 'other']) {
    scene.remote.git('update-ref', '-d', `refs/heads/${branch}`);
    await expect(scene.merger().work(request, context())).rejects.toMatchObject(gone);
  }
  expect(scene.remote.find('main')).toBeUndefined();
});

test('without evidence for its tree nothing lands, even where it would fast-forward', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const answer = await scene.merger().work(scene.request(approved, { evidence: [] }), context());
  expect(answer.outcome).toMatchObject({ kind: 'unverified', candidate: { commit: approved.commit } });
  expect(answer.entries ?? []).toEqual([]);
  expect(scene.remote.head()).toBe(scene.base);
});

test('evidence for the tree that the request claims is not evidence for the tree that git has', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const claimed = { ...approved, tree: scene.remote.treeOf(scene.base) };
  const answer = await scene.merger().work(scene.request(claimed, { evidence: [passed(claimed.tree)] }), context());
  expect(answer.outcome).toMatchObject({ kind: 'unverified', candidate: { tree: approved.tree } });
  expect(scene.remote.head()).toBe(scene.base);
});

test('on a moved branch the merge goes to the reviewer first, and the very commit that passed lands', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const head = scene.remote.advance({ 'b.txt': 'two\n' });
  const request = scene.request(approved);

  const first = await scene.merger().work(request, context());
  if (first.outcome.kind !== 'unverified') throw new Error(`unexpected ${first.outcome.kind}`);
  const { candidate } = first.outcome;
  expect(candidate).toMatchObject({ base: head, files: [{ path: 'a.txt' }] });
  expect(first.entries).toMatchObject([{ type: 'change.merged', payload: { change: candidate } }]);
  expect(scene.remote.head()).toBe(head);

  const verified = { ...request, attempt: 2, candidate, evidence: [...request.evidence, passed(candidate.tree)] };
  const second = await scene.merger({ host: 'another' }).work(verified, context());
  expect(second.outcome).toMatchObject({ kind: 'done', result: { commit: candidate.commit, tree: candidate.tree } });
  expect(second.entries).toMatchObject([{ payload: { how: 'merge', previous: head } }]);
  expect(scene.remote.head()).toBe(candidate.commit);
  expect(scene.remote.git('log', '-1', '--format=%P', 'main')).toBe(`${head} ${approved.commit}`);
});

test('the candidate can be taken by a host that has only the base, and holds what others landed meanwhile', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  scene.remote.advance({ 'b.txt': 'two\n' });
  const { outcome } = await scene.merger().work(scene.request(approved), context());
  if (outcome.kind !== 'unverified') throw new Error(`unexpected ${outcome.kind}`);
  const bundle = await scene.bundles.get(outcome.candidate.bundle);
  const header = Buffer.from(bundle).subarray(0, 400).toString('latin1');
  expect([...header.matchAll(/^-([0-9a-f]{40})/gm)].map(([, id]) => id)).toEqual([scene.base]);
});

test('a branch that moved again while the candidate was tested makes another candidate', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  scene.remote.advance({ 'b.txt': 'two\n' });
  const request = scene.request(approved);
  const first = await scene.merger().work(request, context());
  if (first.outcome.kind !== 'unverified') throw new Error(`unexpected ${first.outcome.kind}`);
  const { candidate } = first.outcome;
  const head = scene.remote.advance({ 'b.txt': 'three\n' });

  const verified = { ...request, attempt: 2, candidate, evidence: [...request.evidence, passed(candidate.tree)] };
  const second = await scene.merger().work(verified, context());
  expect(second.outcome).toMatchObject({ kind: 'unverified', candidate: { base: head } });
  expect(scene.remote.head()).toBe(head);
});

test('a conflict goes to the author with the head to build on', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const head = scene.remote.advance({ 'a.txt': 'three\n' });
  const { outcome } = await scene.merger().work(scene.request(approved), context());
  expect(outcome).toEqual({ kind: 'conflict', head, headBundle: `base/${head}`, paths: ['a.txt'] });
  expect(scene.bundles.names.has(`base/${head}`)).toBe(true);
});

test('what the author and the reviewer go on with is kept on this host as long as the run is under way', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  scene.remote.advance({ 'b.txt': 'two\n' });
  const { outcome } = await scene.merger().work(request, context());
  if (outcome.kind !== 'unverified') throw new Error(`unexpected ${outcome.kind}`);
  const head = scene.remote.advance({ 'a.txt': 'three\n' });
  await scene.merger().work({ ...request, attempt: 2, candidate: outcome.candidate }, context());
  expect(await scene.pinned(request)).toEqual(
    expect.arrayContaining([approved.commit, outcome.candidate.commit, head]),
  );
});

test('a change that somebody else has landed a part of waits for a person', async () => {
  const approved = scene.change({ 'a.txt': 'two\n', 'b.txt': 'two\n' });
  const head = scene.remote.advance({ 'a.txt': 'two\n' });
  const { outcome, entries } = await scene.merger().work(scene.request(approved), context());
  if (outcome.kind !== 'parked') throw new Error(`unexpected ${outcome.kind}`);
  expect(outcome).toMatchObject({ candidate: { base: head, files: [{ path: 'b.txt' }] } });
  expect(scene.remote.head()).toBe(head);

  expect(entries).toMatchObject([
    { type: 'change.merged', payload: { change: outcome.candidate, reason: outcome.reason, diffTruncated: false } },
  ]);
  const { diff } = ChangeMerged.payload.parse(entries?.[0]?.payload);
  expect(diff).toContain('b.txt');
  expect(diff).not.toContain('a.txt');
});

test('a change that the branch holds already is not landed, and nobody is asked about it', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const head = scene.remote.advance({ 'a.txt': 'two\n' });
  const evidence = [passed(approved.tree), passed(scene.remote.treeOf(head))];
  const answer = await scene.merger().work(scene.request(approved, { evidence }), context());
  expect(answer.outcome).toEqual({ kind: 'no_changes', reason: expect.stringContaining(head) });
  expect(answer.entries ?? []).toEqual([]);
  expect(scene.remote.head()).toBe(head);
});

test('a parked candidate lands once it is approved itself and its tree has passed', async () => {
  const approved = scene.change({ 'a.txt': 'two\n', 'b.txt': 'two\n' });
  scene.remote.advance({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  const parked = await scene.merger().work(request, context());
  if (parked.outcome.kind !== 'parked') throw new Error(`unexpected ${parked.outcome.kind}`);
  const { candidate } = parked.outcome;

  const again = { ...request, attempt: 2, approved: candidate, evidence: [passed(candidate.tree)] };
  const { outcome } = await scene.merger().work(again, context());
  expect(outcome).toMatchObject({ kind: 'done', result: { commit: candidate.commit } });
  expect(scene.remote.head()).toBe(candidate.commit);
});

test('asked again after it has landed, it says where, though others have landed since', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  await scene.merger().work(request, context());
  scene.remote.advance({ 'b.txt': 'two\n' });
  const again = await scene.merger({ host: 'another' }).work(request, context());
  expect(again.outcome).toMatchObject({ kind: 'done', result: { commit: approved.commit } });
  expect(again.entries).toMatchObject([{ payload: { how: 'found', previous: scene.base } }]);
  expect(scene.timesLanded(approved)).toBe(1);
});

test('a lost lease stops the landing before the push', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const reason = new Error('the lease was lost');
  const lostLease: MergeLease = { hold: (_lane, work) => work(AbortSignal.abort(reason)) };
  await expect(scene.merger({ lease: lostLease }).work(scene.request(approved), context())).rejects.toBe(reason);
  expect(scene.remote.head()).toBe(scene.base);
});

test('a step that was cancelled does not push', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const cancelled = context();
  const cancelAtRead: MergeLease = {
    hold: (_lane, work) => {
      cancelled.abort(new Error('cancelled'));
      return work(new AbortController().signal);
    },
  };
  await expect(scene.merger({ lease: cancelAtRead }).work(scene.request(approved), cancelled)).rejects.toThrow();
  expect(scene.remote.head()).toBe(scene.base);
});

test('a step that is cancelled while its push is under way, and never hears of it, still tells that it landed', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const cancelled = context();
  const git = createGit();
  const deaf: RunGit = async (call) => {
    const answer = await git(call);
    if (call.args[0] !== 'push') return answer;
    cancelled.abort(new Error('cancelled'));
    throw new Error('the line dropped');
  };
  const { outcome } = await scene.merger({ git: deaf }).work(scene.request(approved), cancelled);
  expect(outcome).toMatchObject({ kind: 'done', result: { commit: approved.commit } });
});

test('a branch that somebody moves between reading and pushing is never overwritten', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const git = createGit();
  let head = scene.base;
  const racing: RunGit = async (call) => {
    if (call.args[0] === 'push') head = scene.remote.advance({ 'b.txt': `after ${head}\n` });
    return git(call);
  };
  const { outcome } = await scene.merger({ git: racing }).work(scene.request(approved), context());
  expect(outcome).toMatchObject({ kind: 'unverified', candidate: { base: head } });
  expect(scene.remote.head()).toBe(head);
});

test('a tree on the branch that is not the one that passed is never told as landed', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const target: LandingTarget = {
    lane: 'lane',
    readFacts: async () => ({
      ...{ head: scene.base, headTree: scene.remote.treeOf(scene.base), approved, candidate: undefined },
      ...{ evidence: [passed(approved.tree)], checks: { declared: [], unchecked: false }, landed: undefined },
      merge: { kind: 'clean', change: approved },
    }),
    push: async () => ({ kind: 'landed', tree: scene.remote.treeOf(scene.base) }),
    describe: () => Promise.reject(new Error('nothing has landed')),
    keepCandidate: () => Promise.reject(new Error('there is no candidate')),
    keepHead: () => Promise.reject(new Error('there is no conflict')),
  };
  const handler = new LandChangeHandler(
    { open: async () => target },
    { hold: (_lane, work) => work(context().signal) },
  );
  await expect(handler.work(scene.request(approved), context())).rejects.toMatchObject({
    code: 'LANDED_TREE_UNPROVEN',
    advice: expect.stringMatching(/^It was pushed/),
  });
});

test('a branch that a remote refuses to move is told with what the remote said', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const hook = join(scene.remote.path, 'hooks', 'pre-receive');
  mkdirSync(dirname(hook), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho "only on Fridays" >&2\nexit 1\n', { mode: 0o755 });
  const refusal = await scene
    .merger()
    .work(scene.request(approved), context())
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    code: 'PUSH_REFUSED',
    remedy: 'caller',
    message: expect.stringContaining('only on Fridays'),
  });
});

test('every answer fits the message that carries it', async () => {
  const outcomes: Outcome[] = [];
  const approved = scene.change({ 'a.txt': 'two\n' });
  outcomes.push((await scene.merger().work(scene.request(approved, { evidence: [] }), context())).outcome);
  outcomes.push((await scene.merger().work(scene.request(approved), context())).outcome);
  outcomes.push((await scene.merger().work(scene.request(scene.change({ 'a.txt': 'x\n' })), context())).outcome);
  for (const outcome of outcomes) {
    expect(StepCompleted.payload.safeParse({ ...StepCompleted.example, outcome }).error).toBeUndefined();
  }
});
