import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { durableName } from '@flotilla/contracts/streams';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { provisionStreams } from './provision-streams.ts';
import { publishMessage, publishRaw } from './publish-message.ts';
import { ackWaitMs, createMemoryGuard, createStreamFixture, openRequest, silentObserver } from './stream.fixture.ts';

let fixture: Awaited<ReturnType<typeof createStreamFixture>>;
beforeAll(async () => {
  fixture = await createStreamFixture();
});
afterEach(() => fixture.stopRunners());
afterAll(() => fixture?.close());

const publish = async () => {
  const message = openRequest();
  await publishMessage(fixture.broker, OpenStepRequested, message);
  return OpenStepRequested.messageId(message);
};
const eventually = (what: string, holds: () => boolean | Promise<boolean>) => pollUntil(what, 20_000, holds);
const passing = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Nothing waits and nothing is under way. A killed server may still keep messages in its stream that were acknowledged. */
const nothingIsLeft = async () => {
  const info = await fixture.broker.jsm.consumers.info('WORK', durable).catch(() => undefined);
  return info?.num_pending === 0 && info.num_ack_pending === 0;
};
const durable = durableName('merger', OpenStepRequested.subject);

test('a handler that takes longer than the ack wait runs once', async () => {
  const { guard, settled } = createMemoryGuard();
  let started = 0;
  let deliveries = 0;
  await fixture.startRunner({
    guard,
    concurrency: 3,
    observer: { ...silentObserver, around: (_, work) => ((deliveries += 1), work()) },
    handle: async () => {
      started += 1;
      await passing(ackWaitMs * 3);
    },
  });
  await publish();
  await eventually('the message is acknowledged', () => settled.length > 0);
  await eventually('nothing is left', nothingIsLeft);
  expect({ started, deliveries }).toEqual({ started: 1, deliveries: 1 });
  expect(settled).toMatchObject([{ settlement: { kind: 'acknowledged' } }]);
});

test('a message waits in the broker and not in a process while every slot is taken', async () => {
  const { guard } = createMemoryGuard();
  const release = Promise.withResolvers<undefined>();
  const handled: string[] = [];
  const slow = await fixture.connect();
  await fixture.startRunner({
    guard,
    broker: slow,
    handle: async () => release.promise,
  });
  await publish();
  await eventually(
    'the only slot is taken',
    async () => (await fixture.broker.jsm.consumers.info('WORK', durable)).num_ack_pending === 1,
  );
  const second = await publish();
  await fixture.startRunner({ guard, handle: (_, { messageId }) => Promise.resolve(void handled.push(messageId)) });
  await eventually('another process takes the second message', () => handled.length > 0);
  release.resolve(undefined);
  await eventually('nothing is left', nothingIsLeft);
  expect(handled).toEqual([second]);
});

test('waiting never spends the budget, failures do, and the last one is a dead letter', async () => {
  const { guard, settled, buried } = createMemoryGuard();
  const thrown = [
    ...Array.from({ length: 2 }, () => new FlotillaError({ ...errors.leaseHeld, remedy: 'wait' }, { key: 'x' })),
    ...Array.from(
      { length: 3 },
      () => new FlotillaError({ code: 'BUSY', remedy: 'retry', summary: 'busy', advice: 'x.' }),
    ),
  ];
  let deliveries = 0;
  await fixture.startRunner({
    guard,
    attempts: 3,
    handle: () => {
      deliveries += 1;
      return Promise.reject(thrown[deliveries - 1] ?? new Error('one delivery too many'));
    },
  });
  await publish();
  await eventually('the message is buried', () => buried.length > 0);
  await eventually('nothing is left', nothingIsLeft);
  expect(deliveries).toBe(5);
  expect(settled.map(({ settlement }) => settlement.kind === 'later' && settlement.counted)).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect(buried).toMatchObject([{ letter: { code: 'BUSY', stage: 'OpenStepRequested', deliveries: 5 } }]);
});

test('a failure nobody foresaw is tried once more', async () => {
  const { guard, buried } = createMemoryGuard();
  let deliveries = 0;
  await fixture.startRunner({
    guard,
    attempts: 9,
    handle: () => {
      deliveries += 1;
      return Promise.reject(new TypeError('undefined is not a function'));
    },
  });
  await publish();
  await eventually('the message is buried', () => buried.length > 0);
  expect(deliveries).toBe(2);
  expect(buried[0]?.letter).toMatchObject({
    code: 'FAILURE_UNCLASSIFIED',
    message: expect.stringContaining('undefined is not a function'),
  });
});

test('a message that is not what its contract says is a dead letter at once, with what is wrong', async () => {
  const { guard, buried } = createMemoryGuard();
  await fixture.startRunner({ guard, handle: () => Promise.reject(new Error('a malformed message was handled')) });
  const { subject } = OpenStepRequested;
  await publishRaw(fixture.broker, { subject, messageId: 'no-json', payload: '{', headers: { traceparent: 'kept' } });
  await publishRaw(fixture.broker, {
    subject,
    messageId: 'no-goal',
    payload: JSON.stringify({ ...openRequest(), goal: 1 }),
  });
  await eventually('both are buried', () => buried.length === 2);
  await eventually('nothing is left', nothingIsLeft);
  expect(buried.map(({ letter }) => letter)).toMatchObject([
    { messageId: 'no-json', code: 'MESSAGE_MALFORMED', payload: '{', headers: { traceparent: 'kept' } },
    { messageId: 'no-goal', message: expect.stringContaining('goal') },
  ]);
});

test('a lost lease aborts the handler and leaves the message to the new holder', async () => {
  const { guard, settled, held } = createMemoryGuard();
  let aborted: unknown;
  let deliveries = 0;
  await fixture.startRunner({
    guard,
    handle: (_, { messageId, signal }) => {
      deliveries += 1;
      if (deliveries > 1) return Promise.resolve();
      held.set(messageId, -1);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted = signal.reason;
          held.delete(messageId);
          reject(new Error('aborted'));
        });
      });
    },
  });
  await publish();
  await eventually('the new holder is done', () => settled.length === 2);
  expect(aborted).toMatchObject({ code: 'LEASE_LOST' });
  expect(settled.map(({ settlement }) => settlement.kind)).toEqual(['abandoned', 'acknowledged']);
});

test('a broker that dies while messages are handled loses none, and each takes effect once', async () => {
  const { guard, handled } = createMemoryGuard();
  const effects = new Map<string, number>();
  await fixture.startRunner({
    guard,
    concurrency: 4,
    handle: async (_, { messageId }) => {
      await passing(30);
      effects.set(messageId, (effects.get(messageId) ?? 0) + 1);
    },
  });
  const sent: string[] = [];
  const publishing = (async () => {
    for (let count = 0; count < 60; count += 1) {
      const message = openRequest();
      const send = (): Promise<unknown> => publishMessage(fixture.broker, OpenStepRequested, message).catch(send);
      await send();
      sent.push(OpenStepRequested.messageId(message));
    }
  })();
  await eventually('some are handled', () => handled.size > 10);
  await fixture.nats.restart({ downMs: 300 });
  await publishing;
  await eventually('all are handled', () => handled.size === sent.length);
  await eventually('nothing is left', nothingIsLeft);
  expect([...effects.keys()].toSorted()).toEqual(sent.toSorted());
  expect([...effects.values()].filter((times) => times !== 1)).toEqual([]);
});

test('a process that stops lets handlers finish, then asks them to, and hands the rest over at once', async () => {
  const { guard, settled } = createMemoryGuard();
  const seen: string[] = [];
  const stopping = await fixture.startRunner({
    guard,
    broker: await fixture.connect(),
    concurrency: 3,
    handle: async ({ runId }, { signal }) => {
      seen.push(runId);
      if (seen.length === 1) return passing(150) as Promise<void>;
      if (seen.length === 2)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('asked'))));
      return new Promise(() => undefined);
    },
  });
  await publish();
  await eventually('the first runs', () => seen.length === 1);
  await publish();
  await eventually('the second runs', () => seen.length === 2);
  await publish();
  await eventually('the third runs', () => seen.length === 3);

  const again: string[] = [];
  const successor = fixture.startRunner({
    guard,
    concurrency: 3,
    handle: ({ runId }) => Promise.resolve(void again.push(runId)),
  });
  const stoppedAt = performance.now();
  await stopping.stop({ finishMs: 400, abortMs: 200 });
  await successor;
  await eventually('the successor has both', () => again.length === 2);
  expect(performance.now() - stoppedAt).toBeLessThan(ackWaitMs);
  expect(again.toSorted()).toEqual(seen.slice(1));
  const ends = settled.map(({ settlement }) => settlement);
  expect(ends.filter(({ kind }) => kind === 'acknowledged')).toHaveLength(3);
  expect(ends.filter(({ kind }) => kind === 'later')).toMatchObject(Array(2).fill({ delayMs: 0, counted: false }));
});

test('two processes that get one message at once let one work and the other wait', async () => {
  const { guard, settled } = createMemoryGuard();
  let working = 0;
  let most = 0;
  const handle = async () => {
    working += 1;
    most = Math.max(most, working);
    await passing(50);
    working -= 1;
  };
  await fixture.startRunner({ guard, handle });
  await fixture.startRunner({ guard, handle, broker: await fixture.connect() });
  const message = openRequest();
  // A different id for the broker and the same occasion for the guard: the duplicate window must not help.
  const messageId = OpenStepRequested.messageId(message);
  const shared = { begin: guard.begin };
  guard.begin = (arrival) => shared.begin({ ...arrival, messageId });
  for (const id of ['one', 'two']) {
    await publishRaw(fixture.broker, {
      subject: OpenStepRequested.subject,
      messageId: `${messageId}/${id}`,
      payload: JSON.stringify(message),
    });
  }
  await eventually('nothing is left', nothingIsLeft);
  expect(most).toBe(1);
  expect(settled.filter(({ settlement }) => settlement.kind === 'acknowledged')).toHaveLength(1);
});

test('a broker that lost all its data gets its streams and consumers again', async () => {
  const { guard, handled } = createMemoryGuard();
  await fixture.startRunner({
    guard,
    handle: () => Promise.resolve(),
    prepare: () => provisionStreams(fixture.broker),
  });
  await fixture.nats.restart({ loseData: true });
  const message = openRequest();
  const send = (): Promise<unknown> => publishMessage(fixture.broker, OpenStepRequested, message).catch(send);
  await send();
  await eventually('the message is handled', () => handled.has(OpenStepRequested.messageId(message)));
});

test('a consumer that is gone is made again', async () => {
  const { guard, handled } = createMemoryGuard();
  await fixture.startRunner({ guard, handle: () => Promise.resolve() });
  await fixture.broker.jsm.consumers.delete('WORK', durable);
  const messageId = await publish();
  await eventually('the message is handled', () => handled.has(messageId));
});

test('a stage that asks no more is silent from its last sign of life on; one that waits, works or has no broker is not', async () => {
  const { guard } = createMemoryGuard();
  let aheadMs = 0;
  const monotonicMs = () => performance.now() + aheadMs;
  const consumer = (...names: [string, string]) =>
    fixture.broker.js.consumers
      .get(...names)
      .then((real) => Object.create(real, { fetch: { value: hang } }) as typeof real);
  const hang = () => new Promise<never>(() => undefined);
  const hanging = { ...fixture.broker, js: { ...fixture.broker.js, consumers: { get: consumer } } } as never;
  const handle = () => Promise.resolve();
  const dead = await fixture.startRunner({ guard, handle, monotonicMs, broker: hanging });
  const waiting = await fixture.startRunner({ guard, handle, monotonicMs });
  const full = await fixture.startRunner({ guard, handle, monotonicMs, concurrency: 0, broker: hanging });
  aheadMs = 60_000;
  await eventually('a stage that waits has asked again', () => waiting.silentMs() < 10_000);
  expect(dead.silentMs()).toBeGreaterThan(60_000);
  expect(full.silentMs()).toBe(0);
});

test('a stage says that it does not get what it asks for while its stream is gone', async () => {
  const { guard } = createMemoryGuard();
  const runner = await fixture.startRunner({ guard, handle: () => Promise.resolve() });
  expect(runner.pulls).toBe(true);
  await fixture.broker.jsm.streams.delete('WORK');
  await eventually('it is told', () => !runner.pulls);
  await provisionStreams(fixture.broker);
  await eventually('it gets messages again', () => runner.pulls);
});
