import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { acquireLease, releaseLease, stepLeaseKey } from '@flotilla/store/lease';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done } from '../domain/run.fixture.ts';
import { ann, createRouterFixture, type RouterFixture } from './router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

test('a step that nobody holds or answers is asked for again, word for word, at growing intervals', async () => {
  const runId = await fixture.submit();
  await fixture.until(runId, 'build');
  expect((await fixture.sweep.findDue()).unanswered).toEqual([]);
  fixture.passTime(61);
  expect((await fixture.sweep.findDue()).unanswered).toEqual([runId]);
  expect(await fixture.sweep.requestAgain(runId)).toBe(true);
  const [first, again] = (await fixture.messages(runId)).slice(-2);
  expect(BuildStepRequested.payload.parse(JSON.parse(again!.payload))).toEqual(
    BuildStepRequested.payload.parse(JSON.parse(first!.payload)),
  );
  expect(again).toMatchObject({ subject: first!.subject, message_id: first!.message_id });
  fixture.passTime(61);
  expect((await fixture.sweep.findDue()).unanswered).toEqual([]);
  fixture.passTime(60);
  expect((await fixture.sweep.findDue()).unanswered).toEqual([runId]);
  await fixture.runs.cancel(runId, ann);
});

test('a step that was lost before the clock went back an hour is asked for as soon as any, and once', async () => {
  const runId = await fixture.submit();
  await fixture.until(runId, 'build');
  const leaseKey = stepLeaseKey({ runId, stepId: 'build', attempt: 1 });
  await acquireLease(fixture.store, leaseKey, 'a worker that died', 15_000);
  await fixture.store.query("update flow.lease set expires_at = expires_at + interval '1 hour' where key = $1", [
    leaseKey,
  ]);
  fixture.passTime(-3600);
  expect((await fixture.sweep.findDue()).unanswered).toEqual([runId]);
  expect(await fixture.sweep.requestAgain(runId)).toBe(true);
  expect(await fixture.sweep.requestAgain(runId)).toBe(false);
  expect((await fixture.sweep.findDue()).unanswered).toEqual([]);
  await fixture.runs.cancel(runId, ann);
  fixture.passTime(3600);
});

test('a step that somebody holds is left alone', async () => {
  const runId = await fixture.submit();
  fixture.passTime(120);
  const lease = await acquireLease(
    fixture.store,
    stepLeaseKey({ runId, stepId: 'open', attempt: 1 }),
    'worker',
    60_000,
  );
  expect((await fixture.sweep.findDue()).unanswered).toEqual([]);
  expect(await fixture.sweep.requestAgain(runId)).toBe(false);
  await releaseLease(fixture.store, lease!);
  expect((await fixture.sweep.findDue()).unanswered).toEqual([runId]);
  await fixture.runs.cancel(runId, ann);
});

test('a run whose time is over ends once nobody works on its step', async () => {
  const runId = await fixture.submit();
  const lease = await acquireLease(
    fixture.store,
    stepLeaseKey({ runId, stepId: 'open', attempt: 1 }),
    'worker',
    60_000,
  );
  fixture.passTime(3 * 3600);
  expect((await fixture.sweep.findDue()).overdue).toEqual([]);
  expect(await fixture.runs.passDeadline(runId)).toEqual({ kind: 'ignored', reason: 'at_work' });
  await releaseLease(fixture.store, lease!);
  expect(await fixture.sweep.findDue()).toMatchObject({ overdue: [runId], unanswered: [] });
  expect(await fixture.runs.passDeadline(runId)).toMatchObject({
    kind: 'advanced',
    ended: { result: 'limit_reached' },
  });
  expect((await fixture.sweep.findDue()).overdue).toEqual([]);
});

test('a landing that nobody answered is asked for again, after the deadline and after a cancellation too', async () => {
  const late = await fixture.submit();
  await fixture.until(late, 'land');
  fixture.passTime(24 * 3600);
  expect(await fixture.runs.passDeadline(late)).toEqual({ kind: 'ignored', reason: 'at_work' });
  expect((await fixture.sweep.findDue()).unanswered).toEqual([late]);
  expect(await fixture.sweep.requestAgain(late)).toBe(true);
  const asked = (await fixture.messages(late)).map(({ message_id }) => message_id);
  expect(asked.slice(-2)).toEqual([`${late}/land/1/requested`, `${late}/land/1/requested`]);
  await fixture.complete(late, done('land'));
  expect(await fixture.runs.passDeadline(late)).toMatchObject({ ended: { result: 'landed' } });

  const runId = await fixture.submit();
  await fixture.until(runId, 'land');
  expect(await fixture.runs.cancel(runId, ann)).toBe('cancelling');
  fixture.passTime(61);
  expect(await fixture.sweep.findDue()).toMatchObject({ unanswered: [runId], cancelled: [runId] });
  expect(await fixture.runs.endCancelled(runId)).toEqual({ kind: 'ignored', reason: 'at_work' });
  expect(await fixture.sweep.requestAgain(runId)).toBe(true);
  await fixture.complete(runId, { kind: 'cancelled' });
  expect(await fixture.sweep.findDue()).toMatchObject({ unanswered: [], cancelled: [], overdue: [] });
});

test('a cancelled run whose worker died ends by itself', async () => {
  const runId = await fixture.submit();
  const lease = await acquireLease(
    fixture.store,
    stepLeaseKey({ runId, stepId: 'open', attempt: 1 }),
    'worker',
    60_000,
  );
  await fixture.runs.cancel(runId, ann);
  expect((await fixture.sweep.findDue()).cancelled).toEqual([]);
  await releaseLease(fixture.store, lease!);
  expect((await fixture.sweep.findDue()).cancelled).toEqual([runId]);
  expect(await fixture.runs.endCancelled(runId)).toMatchObject({ kind: 'advanced', ended: { result: 'cancelled' } });
});

test('a turn that nobody passed on is found', async () => {
  const [first, second] = [await fixture.submit(), await fixture.submit()];
  for (const runId of [first, second]) {
    const gate = await fixture.until(runId, 'gate');
    await fixture.runs.decideGate({ gateId: gate!.gateId, decision: 'approve', commit: gate!.change.commit }, ann);
  }
  expect((await fixture.sweep.findDue()).freeLanes).toEqual([]);
  await fixture.store.query('update router.lane set run_id = null');
  const [lane] = (await fixture.sweep.findDue()).freeLanes;
  expect(await fixture.runs.grantTurn(lane!)).toMatchObject({ kind: 'advanced', run: { runId: second } });
  expect(await fixture.runs.grantTurn(lane!)).toBeUndefined();
});
