import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { openStore } from '@flotilla/store/open-store';
import type { Store } from '@flotilla/store/store';
import { announceRaw, publishRaw } from '@flotilla/stream/publish-message';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHostFixture, eventually, type HostFixture, planRequest } from './host.fixture.ts';
import { type OutboxRelayOptions, startOutboxRelay } from './outbox-relay.ts';

let fixture: HostFixture;
beforeAll(async () => {
  fixture = await createHostFixture();
});
afterAll(() => fixture?.close());

const silent = pino({ level: 'silent' });
const relayOf = (store: Store, options: Partial<OutboxRelayOptions> = {}) =>
  startOutboxRelay({
    store,
    publish: (message) => publishRaw(fixture.broker, message),
    announce: (message) => announceRaw(fixture.broker, message),
    subjects: ['flotilla.step.requested.>', 'flotilla.events.*'],
    connected: () => fixture.broker.connected,
    logger: silent,
    monotonicMs: () => performance.now(),
    ...options,
  });
const openAnother = () =>
  openStore({
    databaseUrl: fixture.postgres.url,
    applicationName: 'another',
    spills: { put: () => Promise.resolve(), get: () => Promise.resolve(new Uint8Array()) },
    clock: () => new Date(),
  });
const commit = async (store: Store): Promise<string> => {
  const { runId } = planRequest();
  await store.transaction((transaction) =>
    transaction.publish(OpenStepRequested, { ...OpenStepRequested.example, runId }),
  );
  return `${runId}/open/1/requested`;
};
const inBroker = async (messageId: string): Promise<number> => {
  const { state } = await fixture.broker.jsm.streams.info('WORK');
  let found = 0;
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq += 1) {
    const stored = await fixture.broker.jsm.streams.getMessage('WORK', { seq });
    if (stored?.header.get('Nats-Msg-Id') === messageId) found += 1;
  }
  return found;
};

test('what a process commits is with the broker at once', async () => {
  const relay = relayOf(fixture.store, { sweepEveryMs: 600_000 });
  const committedAt = performance.now();
  const messageId = await commit(fixture.store);
  await eventually('it is published', async () => (await inBroker(messageId)) === 1);
  expect(performance.now() - committedAt).toBeLessThan(1_000);
  await relay.stop();
});

test('what a process committed and did not publish before it died is published by another, once', async () => {
  const dead = await openAnother();
  const messageId = await commit(dead);
  await dead.close();
  const another = await openAnother();
  const sweepers = [relayOf(fixture.store, { sweepEveryMs: 50 }), relayOf(another, { sweepEveryMs: 50 })];
  const committedAt = performance.now();
  await eventually('it is published', async () => (await inBroker(messageId)) > 0);
  expect(performance.now() - committedAt).toBeGreaterThan(1_000);
  await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
  await another.close();
  expect(await inBroker(messageId)).toBe(1);
});

test('a sweep leaves rows that its user may not publish to those who may', async () => {
  const dead = await openAnother();
  const messageId = await commit(dead);
  await dead.close();
  const relay = relayOf(fixture.store, { sweepEveryMs: 20, olderThanMs: 0, subjects: ['flotilla.step.completed'] });
  await eventually('a sweep saw the row', () => relay.lag().waiting > 0);
  await relay.stop();
  expect(await inBroker(messageId)).toBe(0);
});

test('while the broker is away rows wait in Postgres, and a relay that stops does not wait for it', async () => {
  const asked: string[] = [];
  const publish = ({ messageId }: { messageId: string }) => Promise.resolve(asked.push(messageId));
  const relay = relayOf(fixture.store, { sweepEveryMs: 600_000, connected: () => false, publish });
  const messageId = await commit(fixture.store);
  await relay.stop();
  expect(asked).toEqual([]);
  const rows = await fixture.store.query('select 1 from flow.outbox where message_id = $1 and published_at is null', [
    messageId,
  ]);
  expect(rows).toHaveLength(1);
  await fixture.store.query('update flow.outbox set published_at = now() where message_id = $1', [messageId]);
});

test('what is committed while the broker is away is published once it is back', async () => {
  const relay = relayOf(fixture.store, { sweepEveryMs: 100, olderThanMs: 500 });
  await fixture.nats.kill();
  await eventually('the loss is noticed', () => !fixture.broker.connected);
  const committed = await Promise.all(Array.from({ length: 20 }, () => commit(fixture.store)));
  await fixture.nats.start();
  await eventually('nothing waits', async () => {
    const [row] = await fixture.store.query<{ waiting: number }>(
      'select count(*)::integer as waiting from flow.outbox where published_at is null',
    );
    return row?.waiting === 0;
  });
  await relay.stop();
  for (const messageId of committed) expect(await inBroker(messageId)).toBe(1);
});
