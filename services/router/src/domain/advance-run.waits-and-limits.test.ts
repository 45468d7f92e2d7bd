import { expect, test } from 'vitest';
import { requestAgain } from './request-again.ts';
import {
  after,
  ann,
  commit,
  done,
  DrivenRun,
  failed,
  gateNumber,
  quickFix,
  runId,
  spentTokens,
  unwanted,
} from './run.fixture.ts';

test('an approved run waits for its turn, and takes it when it is granted', () => {
  const driven = new DrivenRun().until('gate approve');
  driven.turn = { kind: 'behind', runId: 'run_other' };
  driven.gate('approve');
  expect(driven.last).toMatchObject({
    lane: 'keep',
    requests: [],
    run: { position: { kind: 'turn', stepId: 'land' } },
  });
  expect(driven.last.entries.at(-1)).toMatchObject({
    type: 'turn.awaited',
    payload: { lane: 'example.com/a refs/heads/main', behind: 'run_other' },
  });
  expect(driven.decide({ kind: 'turnGranted' })).toEqual({ kind: 'ignored', reason: 'not_due' });
  driven.turn = { kind: 'free' };
  expect(driven.send({ kind: 'turnGranted' }).last).toMatchObject({
    lane: 'take',
    requests: [{ verb: 'land', attempt: 1 }],
  });
});

test('the end gives the turn back', () => {
  expect(new DrivenRun().until('land').complete(failed).last.lane).toBe('release');
  expect(new DrivenRun().until('land').complete(done('land')).last.lane).toBe('release');
});

test('a cancelled step that somebody works on is asked to stop and ends the run when it answers', () => {
  const driven = new DrivenRun()
    .until('build')
    .send({ kind: 'cancelRequested', by: ann, reason: 'Wrong.', atWork: true });
  expect(driven.last).toMatchObject({
    entries: [{ type: 'run.cancel_requested', payload: { by: 'ann', reason: 'Wrong.' } }],
    requests: [],
  });
  expect(driven.decide({ kind: 'cancelRequested', by: ann, atWork: true })).toEqual({
    kind: 'ignored',
    reason: 'at_work',
  });
  expect(driven.complete(done('build')).last.ended).toMatchObject({ result: 'cancelled', stepId: 'build' });
});

test('a cancelled step that nobody works on ends the run at once', () => {
  const driven = new DrivenRun().until('build').send({ kind: 'cancelRequested', by: ann, atWork: false });
  expect(driven.last.entries.map(({ type }) => type)).toEqual(['run.cancel_requested', 'run.ended']);
});

test('a cancel at a gate withdraws it and ends the run at once', () => {
  const driven = new DrivenRun().until('gate approve').send({ kind: 'cancelRequested', by: ann, atWork: false });
  expect(driven.last).toMatchObject({
    gates: [{ kind: 'withdrawn', gateId: gateNumber(5) }],
    ended: { result: 'cancelled' },
  });
});

test('a change that landed while the run was cancelled is landed', () => {
  const driven = new DrivenRun()
    .until('land')
    .send({ kind: 'cancelRequested', by: ann, atWork: true })
    .complete(done('land'));
  expect(driven.last.ended).toMatchObject({ result: 'landed', commit: commit('c') });
});

test('a step may spend no more than its own limit and what the run has left', () => {
  const driven = new DrivenRun(quickFix).until('build');
  expect(driven.last.requests[0]).toMatchObject({ allowance: { turns: 40, tokens: 800_000, seconds: 1200 } });
  driven.complete(done('build'), spentTokens(1_900_000));
  expect(driven.last.requests[0]).toMatchObject({
    verb: 'review',
    allowance: { turns: 10, tokens: 2_000_000 - 1_900_020 },
  });
});

test('a budget that is spent stops the run before the next model call, as a limit', () => {
  const driven = new DrivenRun(quickFix).until('build').complete(done('build'), spentTokens(2_000_000));
  expect(driven.last).toMatchObject({
    requests: [],
    ended: { result: 'limit_reached', stepId: 'review', code: 'RUN_LIMIT_REACHED' },
  });
});

test('a spent budget does not keep an approved change from landing, only from being remembered', () => {
  const driven = new DrivenRun(quickFix)
    .until('review')
    .complete(done('review'), spentTokens(2_000_000))
    .gate('approve');
  expect(driven.last.requests[0]).toMatchObject({ verb: 'land' });
  expect(driven.complete(done('land')).last.ended).toMatchObject({ result: 'landed' });
});

test('an unknown price stays unknown and spends nothing of the budget', () => {
  const driven = new DrivenRun()
    .until('plan')
    .complete(done('plan'), spentTokens(10, null))
    .complete(done('build'), spentTokens(10, 5));
  expect(driven.run.spent.microdollars).toBeNull();
  expect(driven.last.requests[0]).toMatchObject({ allowance: { microdollars: 2_000_000 } });
});

test('a review that never agrees ends as a limit', () => {
  const driven = new DrivenRun();
  for (let round = 0; round < 5; round += 1) driven.until('review').complete(unwanted);
  expect(driven.last.ended).toMatchObject({
    result: 'limit_reached',
    message: 'The run reached its limit of visits of build at review',
  });
});

test('a run whose time is over ends as a limit, unless somebody works on its step', () => {
  const driven = new DrivenRun(quickFix).until('build');
  driven.now = after(45 * 60 - 1);
  expect(driven.decide({ kind: 'deadlinePassed', atWork: false })).toEqual({ kind: 'ignored', reason: 'not_due' });
  driven.now = after(45 * 60);
  expect(driven.decide({ kind: 'deadlinePassed', atWork: true })).toEqual({ kind: 'ignored', reason: 'at_work' });
  expect(driven.send({ kind: 'deadlinePassed', atWork: false }).last.ended).toMatchObject({
    result: 'limit_reached',
    code: 'RUN_LIMIT_REACHED',
  });
});

test('a run that may have landed is ended by no deadline, but by the answer of who asks the branch', () => {
  const driven = new DrivenRun(quickFix).until('land');
  driven.now = after(24 * 3600);
  const late = { kind: 'deadlinePassed', atWork: false } as const;
  expect(driven.decide(late)).toEqual({ kind: 'ignored', reason: 'at_work' });
  expect(requestAgain(driven.run, driven.slip)).toEqual(driven.last.requests[0]);
  driven.complete(done('land'));
  expect(driven.send(late).last.ended).toMatchObject({ result: 'landed', commit: commit('c') });

  const stopped = new DrivenRun(quickFix).until('land').complete({ kind: 'limit_reached', limit: 'deadline' });
  expect(stopped.last.ended).toMatchObject({ result: 'limit_reached', stepId: 'land' });
});

test('a run that may have landed is ended by no cancellation, but by the answer of who asks the branch', () => {
  const driven = new DrivenRun().until('land').send({ kind: 'cancelRequested', by: ann, atWork: false });
  expect(driven.last).toMatchObject({ lane: 'keep', requests: [] });
  expect(driven.last.ended).toBeUndefined();
  expect(driven.decide({ kind: 'cancelRequested', by: ann, atWork: false })).toEqual({
    kind: 'ignored',
    reason: 'at_work',
  });
  expect(requestAgain(driven.run, driven.slip)).toMatchObject({ verb: 'land', attempt: 1 });
  expect(driven.complete({ kind: 'cancelled' }).last).toMatchObject({
    lane: 'release',
    ended: { result: 'cancelled' },
  });
});

test('a cancelled step that cannot have landed is not asked for again', () => {
  const driven = new DrivenRun().until('build').send({ kind: 'cancelRequested', by: ann, atWork: true });
  expect(requestAgain(driven.run, driven.slip)).toBeUndefined();
});

test('waiting for a person and for a turn does not use up the time of the run', () => {
  const driven = new DrivenRun(quickFix).until('gate approve');
  driven.now = after(3600);
  expect(driven.decide({ kind: 'deadlinePassed', atWork: false })).toEqual({ kind: 'ignored', reason: 'not_due' });
  driven.turn = { kind: 'behind', runId };
  driven.gate('approve');
  driven.now = after(5400);
  driven.turn = { kind: 'free' };
  driven.send({ kind: 'turnGranted' });
  expect(driven.last.requests[0]).toMatchObject({ deadline: after(5400 + 45 * 60).toISOString() });
});
