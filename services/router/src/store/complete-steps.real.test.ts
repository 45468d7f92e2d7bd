import type { RunId } from '@flotilla/contracts/ids';
import type { Outcome } from '@flotilla/contracts/outcome';
import { readInbox } from '@flotilla/store/inbox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done, spentTokens } from '../domain/run.fixture.ts';
import { createRouterFixture, failureOf, type RouterFixture } from './router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture?.close());

const stage = 'StepCompleted';
const answer = async (runId: RunId, outcome: Outcome, messageId = `${runId}/answer`) => {
  const { position } = await fixture.readRun(runId);
  if (position?.kind !== 'step') throw new Error(`${runId} is at ${position?.kind}`);
  const { stepId, attempt } = position;
  const completion = { runId, stepId, attempt, outcome, spent: spentTokens(7) };
  return { completion, take: () => fixture.runs.completeStep(completion, { messageId, stage }) };
};
const submitMany = (count: number) => Promise.all(Array.from({ length: count }, () => fixture.submit()));

test('outcomes of many runs that come at once move each of them, with its next request, its log and its delivery', async () => {
  const runs = await submitMany(12);
  const answers = await Promise.all(runs.map((runId) => answer(runId, done('open'))));
  const decisions = await Promise.all(answers.map(({ take }) => take()));
  expect(decisions.map(({ kind }) => kind)).toEqual(runs.map(() => 'advanced'));
  for (const runId of runs) {
    const run = await fixture.readRun(runId);
    expect(run.position).toMatchObject({ kind: 'step', stepId: 'setup', attempt: 1 });
    expect(run.spent.tokens).toBe(7);
    const log = await fixture.log(runId);
    expect(log.map(({ sequence, type }) => [sequence, type])).toEqual([
      [1, 'task.accepted'],
      [2, 'step.requested'],
      [3, 'step.completed'],
      [4, 'step.requested'],
    ]);
    const requests = await fixture.messages(runId);
    expect(requests.map(({ message_id }) => message_id)).toEqual([
      `${runId}/open/1/requested`,
      `${runId}/setup/1/requested`,
    ]);
    expect(await readInbox(fixture.store, `${runId}/answer`, stage)).toMatchObject({ handled: true });
    const [row] = await fixture.store.query<{ state: string; step_id: string; requests: number; lane: string | null }>(
      'select state, step_id, requests, lane from router.run where id = $1',
      [runId],
    );
    expect(row).toMatchObject({ state: 'running', step_id: 'setup', requests: 0 });
    expect(row?.lane).toMatch(/ refs\/heads\//);
  }
});

test('among outcomes that come at once, a repeat and one of a past attempt change nothing, and the others are taken', async () => {
  const [repeated, past, plain] = await submitMany(3);
  if (repeated === undefined || past === undefined || plain === undefined) throw new Error('three runs were wanted');
  const first = await answer(repeated, done('open'));
  await first.take();
  const { completion } = await answer(past, done('open'));
  const late = () => fixture.runs.completeStep({ ...completion, attempt: 9 }, { messageId: `${past}/late`, stage });
  const results = await Promise.all([
    failureOf(first.take()),
    late(),
    answer(plain, done('open')).then(({ take }) => take()),
  ]);
  expect(results).toMatchObject(['DELIVERY_ALREADY_HANDLED', { kind: 'ignored' }, { kind: 'advanced' }]);
  expect((await fixture.log(repeated)).length).toBe(4);
  expect((await fixture.log(past)).length).toBe(2);
});

test('a run that opens a gate moves beside others that do not, and what a text column refuses is kept in the facts', async () => {
  const [gated, planned] = await submitMany(2);
  if (gated === undefined || planned === undefined) throw new Error('two runs were wanted');
  await fixture.until(gated, 'review');
  await fixture.until(planned, 'plan');
  const plan = 'a NUL: \u0000 and a quote: "';
  const outcome: Outcome = { kind: 'done', result: { verb: 'plan', plan } };
  const answers = await Promise.all([answer(gated, done('review')), answer(planned, outcome)]);
  await Promise.all(answers.map(({ take }) => take()));
  expect((await fixture.readRun(gated)).position?.kind).toBe('gate');
  expect((await fixture.readRun(planned)).known.plan).toBe(plan);
});

test('a run that ends by an outcome is ended in its columns too', async () => {
  const runId = await fixture.submit();
  const failed: Outcome = { kind: 'failed', code: 'BROKEN', message: 'It \u0000 broke.', advice: 'Mend it.' };
  await (await answer(runId, failed)).take();
  const rows = await fixture.store.query(
    'select state, result, code, message, ended_at from router.run where id = $1',
    [runId],
  );
  expect(rows).toMatchObject([{ state: 'ended', result: 'failed', code: 'BROKEN', ended_at: expect.anything() }]);
});
