import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { provisionConsumer } from './provision-streams.ts';
import { publishMessage } from './publish-message.ts';
import { pullMessages } from './pull-messages.ts';
import { createStreamFixture, openRequest } from './stream.fixture.ts';

let fixture: Awaited<ReturnType<typeof createStreamFixture>>;
let consumer: Consumer;
beforeAll(async () => {
  fixture = await createStreamFixture();
  consumer = await provisionConsumer(fixture.broker, 'merger', OpenStepRequested);
});
afterAll(() => fixture?.close());

const expiresMs = 20_000;
const ack = (message: JsMsg): void => message.ack();
const pullFrom = async (source: Consumer, signal: AbortSignal) => {
  const began = performance.now();
  const { kind, taken } = await pullMessages(source, { count: 2, expiresMs, signal, take: () => undefined });
  return { kind, taken, soon: performance.now() - began < expiresMs / 2 };
};

test('a pull that is given up ends at once', async () => {
  const abort = new AbortController();
  const pulling = pullFrom(consumer, abort.signal);
  setImmediate(() => abort.abort());
  expect(await pulling).toEqual({ kind: 'ended', taken: 0, soon: true });
});

test('a pull that is given up while the broker is being asked ends at once and takes no message', async () => {
  const abort = new AbortController();
  const slow: Consumer = Object.assign(Object.create(consumer) as Consumer, {
    fetch: async (options: Parameters<Consumer['fetch']>[0]) => {
      const messages = await consumer.fetch(options);
      abort.abort();
      return messages;
    },
  });
  expect(await pullFrom(slow, abort.signal)).toEqual({ kind: 'ended', taken: 0, soon: true });

  await publishMessage(fixture.broker, OpenStepRequested, openRequest());
  const pulled = await pullMessages(consumer, { count: 1, expiresMs, signal: new AbortController().signal, take: ack });
  expect(pulled).toEqual({ kind: 'ended', taken: 1 });
});

test('what a pull asks for is given as it comes, and no more than that', async () => {
  for (let sent = 0; sent < 3; sent += 1) await publishMessage(fixture.broker, OpenStepRequested, openRequest());
  const signal = new AbortController().signal;
  expect(await pullMessages(consumer, { count: 2, expiresMs, signal, take: ack })).toEqual({ kind: 'ended', taken: 2 });
  expect((await consumer.info()).num_pending).toBe(1);
});
