import type { Consumer } from '@nats-io/jetstream';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { provisionConsumer } from './provision-streams.ts';
import { publishMessage } from './publish-message.ts';
import { pullMessage } from './pull-message.ts';
import { createStreamFixture, openRequest } from './stream.fixture.ts';

let fixture: Awaited<ReturnType<typeof createStreamFixture>>;
let consumer: Consumer;
beforeAll(async () => {
  fixture = await createStreamFixture();
  consumer = await provisionConsumer(fixture.broker, 'merger', OpenStepRequested);
});
afterAll(() => fixture?.close());

const expiresMs = 20_000;
const pullFrom = async (source: Consumer, signal: AbortSignal) => {
  const began = performance.now();
  const { kind } = await pullMessage(source, { expiresMs, signal });
  return { kind, soon: performance.now() - began < expiresMs / 2 };
};

test('a pull that is given up ends at once', async () => {
  const abort = new AbortController();
  const pulling = pullFrom(consumer, abort.signal);
  setImmediate(() => abort.abort());
  expect(await pulling).toEqual({ kind: 'nothing', soon: true });
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
  expect(await pullFrom(slow, abort.signal)).toEqual({ kind: 'nothing', soon: true });

  await publishMessage(fixture.broker, OpenStepRequested, openRequest());
  const pulled = await pullMessage(consumer, { expiresMs, signal: new AbortController().signal });
  expect(pulled.kind).toBe('message');
});
