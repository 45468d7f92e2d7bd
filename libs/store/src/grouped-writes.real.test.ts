import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { RunId } from '@flotilla/contracts/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readInbox } from './inbox.ts';
import { acquireLease, releaseLease, stepLeaseKey } from './lease.ts';
import type { Committed } from './store.ts';
import { buildStep, createStoreFixture, nextRunId } from './store.fixture.ts';

let fixture: Awaited<ReturnType<typeof createStoreFixture>>;
beforeAll(async () => {
  fixture = await createStoreFixture();
});
afterAll(() => fixture?.close());

const stage = 'BuildStepRequested';
const stepOf = (runId: RunId) => ({ runId, stepId: buildStep, attempt: 1 });
const begin = (runId: RunId, holder = 'me') =>
  fixture.store.grouped.beginDelivery({
    messageId: `${runId}/build`,
    stage,
    lease: { key: stepLeaseKey(stepOf(runId)), holder, ttlMs: 60_000 },
  });
const leased = async (runId: RunId) => {
  const begun = await begin(runId);
  if (begun.kind === 'held' || begun.lease === undefined) throw new Error('the lease is held');
  return begun.lease;
};
const entry = (runId: RunId, plan: string) => ({
  type: 'plan.written' as const,
  stepId: buildStep,
  attempt: 1,
  payload: { plan },
});
const end = (runId: RunId, lease: Awaited<ReturnType<typeof leased>>) => ({
  messageId: `${runId}/build`,
  stage,
  lease,
  contract: StepCompleted,
  answer: { ...StepCompleted.example, ...stepOf(runId) },
});
const outboxOf = (runId: RunId) =>
  fixture.store.query<{ subject: string; cause: string; payload: string }>(
    'select subject, cause, payload from flow.outbox where cause = $1',
    [`${runId}/build`],
  );

test('many deliveries begin together, each with its lease, and one whose lease is held is not noted', async () => {
  const runs = Array.from({ length: 20 }, nextRunId);
  await acquireLease(fixture.store, stepLeaseKey(stepOf(runs[7]!)), 'another', 60_000);
  const begun = await Promise.all(runs.map((runId) => begin(runId)));
  expect(begun.map(({ kind }) => kind)).toEqual(runs.map((_, place) => (place === 7 ? 'held' : 'begun')));
  const fences = begun.flatMap((each) => (each.kind === 'begun' ? [each.lease?.fence] : []));
  expect(new Set(fences).size).toBe(19);
  expect(await readInbox(fixture.store, `${runs[7]}/build`, stage)).toMatchObject({ deliveries: 0 });
  expect(await readInbox(fixture.store, `${runs[8]}/build`, stage)).toMatchObject({ deliveries: 1, open: 1 });
});

test('entries of many runs are written together, each log without a gap and in the order they were given', async () => {
  const told: Committed[] = [];
  const forget = fixture.store.onCommitted((committed) => told.push(committed));
  const runs = Array.from({ length: 10 }, nextRunId);
  await Promise.all(
    runs.map(async (runId) => {
      const lease = await leased(runId);
      await Promise.all([
        fixture.store.grouped.journal(runId, [entry(runId, '1'), entry(runId, '2')], lease),
        fixture.store.grouped.journal(runId, [entry(runId, '3')], lease),
      ]);
    }),
  );
  forget();
  for (const runId of runs) {
    const log = await fixture.store.readLog(runId);
    expect(log.map(({ sequence, payload }) => [sequence, payload])).toEqual([
      [1, { plan: '1' }],
      [2, { plan: '2' }],
      [3, { plan: '3' }],
    ]);
    const sequences = told.flatMap(({ advanced }) => advanced.filter((each) => each.runId === runId));
    expect(sequences.map(({ sequence }) => sequence)).toEqual([2, 3]);
  }
});

test('of entries that are written together only those are refused whose lease was lost', async () => {
  const [lost, held] = [nextRunId(), nextRunId()];
  const leases = await Promise.all([leased(lost), leased(held)]);
  await releaseLease(fixture.store, leases[0]);
  const results = await Promise.allSettled([
    fixture.store.grouped.journal(lost, [entry(lost, 'late')], leases[0]),
    fixture.store.grouped.journal(held, [entry(held, 'in time')], leases[1]),
  ]);
  expect(results).toMatchObject([{ status: 'rejected', reason: { code: 'LEASE_LOST' } }, { status: 'fulfilled' }]);
  expect(await fixture.store.readLog(lost)).toEqual([]);
  expect(await fixture.store.readLog(held)).toHaveLength(1);
});

test('an answer is written once, with the message handled and the lease given back; of many only the late ones are refused', async () => {
  const [first, lost, repeated] = [nextRunId(), nextRunId(), nextRunId()];
  const leases = await Promise.all([leased(first), leased(lost), leased(repeated)]);
  await releaseLease(fixture.store, leases[1]);
  await fixture.store.transaction((transaction) => transaction.completeInbox(`${repeated}/build`, stage));
  const results = await Promise.allSettled([
    fixture.store.grouped.answer(end(first, leases[0])),
    fixture.store.grouped.answer(end(lost, leases[1])),
    fixture.store.grouped.answer(end(repeated, leases[2])),
  ]);
  expect(results).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'LEASE_LOST' } },
    { status: 'rejected', reason: { code: 'DELIVERY_ALREADY_HANDLED' } },
  ]);
  expect(await outboxOf(first)).toMatchObject([{ subject: 'flotilla.step.completed' }]);
  expect(await outboxOf(lost)).toEqual([]);
  expect(await outboxOf(repeated)).toEqual([]);
  expect(await readInbox(fixture.store, `${first}/build`, stage)).toMatchObject({ handled: true, open: 0 });
  expect((await begin(first, 'somebody else')).kind).toBe('begun');
});

test('a settled delivery is no longer open and its lease is free; settling it again changes nothing', async () => {
  const runId = nextRunId();
  const lease = await leased(runId);
  for (let times = 0; times < 2; times += 1)
    await fixture.store.grouped.settleDelivery({ messageId: `${runId}/build`, stage, lease });
  expect(await readInbox(fixture.store, `${runId}/build`, stage)).toMatchObject({ open: 0, handled: false });
  expect((await begin(runId)).kind).toBe('begun');
});
