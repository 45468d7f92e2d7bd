import type { RunId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acquireLease, releaseLease, renewLease, stepLeaseKey } from './lease.ts';
import { readInbox, recordDelivery, recordFailure, recordPutOff } from './inbox.ts';
import { migrate } from './migrate.ts';
import { markPublished, readOutboxLag, republishAnswers, takeUnpublished } from './outbox.ts';
import { buildStep, createStoreFixture, nextRunId } from './store.fixture.ts';
import type { Committed, Store } from './store.ts';

let fixture: Awaited<ReturnType<typeof createStoreFixture>>;
let store: Store;
beforeAll(async () => {
  fixture = await createStoreFixture();
  store = fixture.store;
});
afterAll(() => fixture?.close());

const cancelRequested = (by: string): NewLogEntry => ({ type: 'run.cancel_requested', payload: { by } }) as NewLogEntry;
const planWritten = (plan: string): NewLogEntry => ({
  type: 'plan.written',
  stepId: buildStep,
  attempt: 1,
  payload: { plan },
});
const append = (to: Store, runId: RunId, ...entries: NewLogEntry[]) =>
  to.transaction((transaction) => transaction.appendLog(runId, entries));

test('a reader that keeps a cursor meets every entry once and in order while eight writers append', async () => {
  const runId = nextRunId();
  const writers = await Promise.all(Array.from({ length: 8 }, () => fixture.open({ poolSize: 2 })));
  const perWriter = 40;
  let writing = true;
  const seen: number[] = [];
  const read = async (): Promise<number> => {
    const entries = await store.readLog(runId, { after: seen.at(-1) ?? 0 });
    seen.push(...entries.map(({ sequence }) => sequence));
    return entries.length;
  };
  const reading = (async () => {
    while (writing) await read();
    while ((await read()) > 0);
  })();
  await Promise.all(
    writers.map(async (writer, place) => {
      for (let turn = 0; turn < perWriter; turn += 1) {
        await append(writer, runId, cancelRequested(`w${place}`), ...(turn % 3 === 0 ? [cancelRequested('more')] : []));
      }
    }),
  );
  writing = false;
  await reading;
  const total = 8 * (perWriter + Math.ceil(perWriter / 3));
  expect(seen).toEqual(Array.from({ length: total }, (_, place) => place + 1));
});

test('a transaction that fails leaves no entry, no message and no gap', async () => {
  await emptyOutbox();
  const runId = nextRunId();
  await append(store, runId, cancelRequested('first'));
  const failing = store.transaction(async (transaction) => {
    await transaction.publish(OpenStepRequested, { ...OpenStepRequested.example, runId });
    await transaction.appendLog(runId, [cancelRequested('lost')]);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await append(store, runId, cancelRequested('second'))).toBe(2);
  const waiting = await takeUnpublished(store, { olderThanMs: 0, limit: 100 });
  expect(waiting.filter(({ subject }) => subject === OpenStepRequested.subject)).toEqual([]);
});

test('logs of several runs are appended to in the order of their ids only', async () => {
  const [first, second] = [nextRunId(), nextRunId()].toSorted();
  if (first === undefined || second === undefined) throw new Error('there are two');
  const appendBoth = (...runs: readonly RunId[]) =>
    store.transaction(async (transaction) => {
      for (const runId of runs) await transaction.appendLog(runId, [cancelRequested('x')]);
    });
  await appendBoth(first, second, second);
  await expect(appendBoth(second, first)).rejects.toThrow(RangeError);
  expect(await append(store, first, cancelRequested('next'))).toBe(2);
});

test('an entry about a step is refused without the lease of its step, with a stale one, and with a released one', async () => {
  const runId = nextRunId();
  await expect(append(store, runId, planWritten('none'))).rejects.toMatchObject({ code: 'LEASE_REQUIRED' });

  const key = stepLeaseKey({ runId, stepId: buildStep, attempt: 1 });
  const stale = await acquireLease(store, key, 'first', 1);
  const current = await poll(() => acquireLease(store, key, 'second', 10_000));
  if (stale === undefined) throw new Error('the first lease was free');
  expect(current.fence).toBeGreaterThan(stale.fence);
  const write = (lease: typeof current) =>
    store.transaction((transaction) => transaction.appendLog(runId, [planWritten(lease.holder)], { lease }));
  await expect(write(stale)).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(await renewLease(store, stale, 1000)).toBe(false);
  expect(await write(current)).toBe(1);

  await releaseLease(store, stale);
  expect(await renewLease(store, current, 1000)).toBe(true);
  await releaseLease(store, current);
  await expect(write(current)).rejects.toMatchObject({ code: 'LEASE_LOST' });
});

test('a lease is not given away while an entry written under it is on its way to the commit', async () => {
  const runId = nextRunId();
  const key = stepLeaseKey({ runId, stepId: buildStep, attempt: 1 });
  const lease = await acquireLease(store, key, 'first', 1);
  if (lease === undefined) throw new Error('the lease was free');
  const other = await fixture.open();
  let taken = false;
  let taking: Promise<unknown> | undefined;
  await store.transaction(async (transaction) => {
    await transaction.appendLog(runId, [planWritten('mine')], { lease });
    taking = acquireLease(other, key, 'second', 10_000).then((given) => (taken = given !== undefined));
    await poll(async () => {
      const blocked = await store.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return blocked.length > 0 ? true : undefined;
    });
    expect(taken).toBe(false);
  });
  await taking;
  expect(taken).toBe(true);
});

test('of many who ask for a lease at once one gets it', async () => {
  const others = await Promise.all([fixture.open(), fixture.open(), fixture.open()]);
  const given = await Promise.all(
    [store, ...others].flatMap((each, place) => [1, 2].map(() => acquireLease(each, 'one', `holder-${place}`, 5_000))),
  );
  expect(given.filter((lease) => lease !== undefined)).toHaveLength(1);
});

test('a lease that was given before the clock of the database went back is not held for longer, and a holder that lives keeps it', async () => {
  for (const [key, lives] of [
    ['of the dead', false],
    ['of the living', true],
  ] as const) {
    const lease = await acquireLease(store, key, 'before', 15_000);
    await store.query("update flow.lease set expires_at = expires_at + interval '1 hour' where key = $1", [key]);
    if (lives) expect(await renewLease(store, lease!, 15_000)).toBe(true);
    const next = await acquireLease(store, key, 'after', 15_000);
    expect(next?.holder).toBe(lives ? undefined : 'after');
    if (!lives) expect(await renewLease(store, lease!, 15_000)).toBe(false);
  }
});

test('payloads over 16 KB are spilled before the commit and read back whole, whatever they hold', async () => {
  const runId = nextRunId();
  const large = { by: 'ü\u0000\ud800'.repeat(4000) };
  await append(
    store,
    runId,
    { type: 'run.cancel_requested', payload: large } as unknown as NewLogEntry,
    cancelRequested('small\u0000'),
  );
  expect([...fixture.spills.kept.keys()].filter((name) => name.startsWith(runId))).toHaveLength(1);
  const entries = await store.readLog(runId);
  expect(entries.map(({ payload }) => payload)).toEqual([JSON.parse(JSON.stringify(large)), { by: 'small\u0000' }]);
  expect(entries[0]).toMatchObject({ runId, sequence: 1, at: '2030-01-01T00:00:00.000Z' });
});

test('a log is read by type, step, attempt, cursor and limit', async () => {
  const runId = nextRunId();
  const lease = await acquireLease(store, stepLeaseKey({ runId, stepId: buildStep, attempt: 1 }), 'reader', 10_000);
  await append(store, runId, cancelRequested('a'), cancelRequested('b'));
  await store.transaction((transaction) =>
    transaction.appendLog(runId, [planWritten('p')], { ...(lease === undefined ? {} : { lease }) }),
  );
  const sequences = async (options: Parameters<Store['readLog']>[1]) =>
    (await store.readLog(runId, options)).map(({ sequence }) => sequence);
  expect(await sequences({ types: ['plan.written'] })).toEqual([3]);
  expect(await sequences({ stepId: buildStep, attempt: 1 })).toEqual([3]);
  expect(await sequences({ stepId: buildStep, attempt: 2 })).toEqual([]);
  expect(await sequences({ after: 1, limit: 1 })).toEqual([2]);
});

test('what a transaction publishes is told to listeners once it is committed, and taken by a sweeper where the process died before', async () => {
  await emptyOutbox();
  const runId = nextRunId();
  const told: Committed[] = [];
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const writer = await fixture.open({ traceContext: () => ({ traceparent }) });
  const stop = writer.onCommitted((committed) => told.push(committed));
  await writer.transaction(async (transaction) => {
    await transaction.publish(OpenStepRequested, { ...OpenStepRequested.example, runId });
    await transaction.appendLog(runId, [cancelRequested('x')]);
    expect(told).toEqual([]);
  });
  stop();
  const messages = told.flatMap(({ outbox }) => outbox);
  expect(messages.map(({ subject }) => subject)).toEqual([OpenStepRequested.subject, `flotilla.events.${runId}`]);
  expect(messages[0]).toMatchObject({ messageId: `${runId}/open/1/requested`, headers: { traceparent } });

  const mine = (rows: readonly { id: string }[]) =>
    rows.filter(({ id }) => messages.some((message) => message.id === id));
  expect(mine(await takeUnpublished(store, { olderThanMs: 60_000, limit: 100 }))).toEqual([]);
  const forOthers = { olderThanMs: 0, limit: 100, subjects: ['flotilla.dead.*'] };
  expect(mine(await takeUnpublished(store, forOthers))).toEqual([]);
  const taken = await takeUnpublished(store, {
    olderThanMs: 0,
    limit: 100,
    subjects: ['flotilla.step.requested.>', 'flotilla.events.*'],
  });
  expect(mine(taken)).toEqual(messages);
  expect(await takeUnpublished(store, { olderThanMs: 60_000, limit: 100 })).toEqual([]);
  expect((await readOutboxLag(store)).waiting).toBeGreaterThanOrEqual(2);
  await markPublished(
    store,
    taken.map(({ id }) => id),
  );
  expect(mine(await takeUnpublished(store, { olderThanMs: 0, limit: 100 }))).toEqual([]);
});

test('rows that were taken are not given out again before their time, however old they are', async () => {
  await emptyOutbox();
  await append(store, nextRunId(), cancelRequested('x'));
  await store.query("update flow.outbox set created_at = created_at - interval '1 hour' where published_at is null");
  const take = () => takeUnpublished(store, { olderThanMs: 60_000, limit: 100 });
  expect(await take()).toHaveLength(1);
  expect(await take()).toHaveLength(0);
  await store.query("update flow.outbox set taken_at = taken_at - interval '1 hour' where published_at is null");
  expect(await take()).toHaveLength(1);
});

test('the answers to a handled message can be given to the broker again', async () => {
  await emptyOutbox();
  const runId = nextRunId();
  const messageId = `${runId}/cause`;
  await store.transaction(async (transaction) => {
    await transaction.publish(OpenStepRequested, { ...OpenStepRequested.example, runId });
    await transaction.completeInbox(messageId, 'Stage');
  });
  const first = await takeUnpublished(store, { olderThanMs: 0, limit: 100 });
  await markPublished(
    store,
    first.map(({ id }) => id),
  );
  expect(await republishAnswers(store, messageId)).toBe(1);
  const [again] = await takeUnpublished(store, { olderThanMs: 0, limit: 100 });
  expect(again).toMatchObject({ messageId: `${runId}/open/1/requested` });
});

test('an inbox row counts deliveries, failures and deliveries that died, and waiting counts as neither', async () => {
  const messageId = `${nextRunId()}/counted`;
  expect(await readInbox(store, messageId, 's')).toEqual({ handled: false, failures: 0, deliveries: 0, open: 0 });
  await recordDelivery(store, messageId, 's');
  await recordPutOff(store, messageId, 's');
  await recordDelivery(store, messageId, 's');
  expect(await recordFailure(store, messageId, 's')).toBe(1);
  expect(await recordDelivery(store, messageId, 's')).toEqual({ handled: false, failures: 1, deliveries: 3, open: 1 });
  expect(await recordDelivery(store, messageId, 's')).toMatchObject({ open: 2 });
  expect(await recordDelivery(store, messageId, 'other stage')).toMatchObject({ deliveries: 1 });
});

test('of two deliveries of one message that are handled at once, one takes effect', async () => {
  const runId = nextRunId();
  const messageId = `${runId}/twice`;
  const other = await fixture.open();
  const handle = (by: Store) =>
    by.transaction(async (transaction) => {
      await transaction.completeInbox(messageId, 's');
      await transaction.appendLog(runId, [cancelRequested('once')]);
    });
  const results = await Promise.allSettled([handle(store), handle(other)]);
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'DELIVERY_ALREADY_HANDLED', remedy: 'wait' },
  });
  expect(await store.readLog(runId)).toHaveLength(1);
  expect(await recordDelivery(store, messageId, 's')).toMatchObject({ handled: true, open: 0 });
});

test('processes that migrate at once apply each migration once', async () => {
  const migrations = [
    { name: 'test-001', up: ['create schema test_own', 'create table test_own.row (id text primary key)'] },
  ];
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate({ databaseUrl: fixture.url, migrations })));
  expect(applied.flat()).toEqual(['test-001']);
});

test('a message too large for the broker is refused by whoever writes it', async () => {
  const runId = nextRunId();
  const goal = 'x'.repeat(1024 * 1024);
  const publishing = store.transaction((transaction) =>
    transaction.publish(OpenStepRequested, { ...OpenStepRequested.example, runId, goal }),
  );
  await expect(publishing).rejects.toMatchObject({ code: 'MESSAGE_TOO_LARGE' });
});

/** Marks everything that waits as published, so that a test meets its own rows. */
async function emptyOutbox(): Promise<void> {
  const rows = await takeUnpublished(store, { olderThanMs: 0, limit: 10_000 });
  await markPublished(
    store,
    rows.map(({ id }) => id),
  );
}

async function poll<T>(read: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 10_000;
  while (performance.now() < deadline) {
    const value = await read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it did not happen within ten seconds');
}
