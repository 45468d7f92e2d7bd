import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { durableName } from '@flotilla/contracts/streams';
import { type NatsServer, startNats } from '@flotilla/testing/servers/start-nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Broker, connectBroker } from './connect-broker.ts';
import { provisionConsumer, provisionStreams } from './provision-streams.ts';
import { purgeAcknowledged } from './purge-acknowledged.ts';

const { subject } = StepCompleted;
const durable = durableName('router', subject);
let nats: NatsServer;
let broker: Broker;
beforeAll(async () => {
  nats = await startNats();
  broker = await connectBroker({ url: nats.url, name: 'test' });
  await provisionStreams(broker);
});
afterAll(async () => {
  await broker.close();
  await nats.close();
});

const count = async () => (await broker.jsm.streams.info('WORK')).state.messages;
const publish = (text: string, on: string = subject) => broker.js.publish(on, text);

/** Acknowledges messages until the server is killed in the middle of it, and again until nothing more is given. */
async function takeThroughKill(messages: number): Promise<void> {
  for (let index = 0; index < messages; index += 1) await publish(`m${index}`);
  const consumer = await provisionConsumer(broker, 'router', StepCompleted);
  let taken = 0;
  const taking = (async () => {
    while (taken < messages) {
      const message = await consumer.next({ expires: 1_000 }).catch(() => null);
      if (message === null) return;
      message.ack();
      taken += 1;
    }
  })();
  await expect.poll(() => taken, { interval: 1 }).toBeGreaterThan(messages / 2);
  await nats.restart();
  await taking;
  await expect.poll(() => broker.connected).toBe(true);
}

async function takeAll(): Promise<void> {
  const consumer = await provisionConsumer(broker, 'router', StepCompleted, 1_000);
  const isIdle = async () => {
    const info = await broker.jsm.consumers.info('WORK', durable);
    return info.num_pending === 0 && info.num_ack_pending === 0;
  };
  while (!(await isIdle())) await (await consumer.next({ expires: 1_000 }).catch(() => null))?.ackAck();
}

test('what a killed server shows again of acknowledged messages is removed, and nothing that waits', async () => {
  await publish('of another consumer', OpenStepRequested.subject);
  for (let round = 0; round < 10 && (await count()) === 1; round += 1) {
    await takeThroughKill(600);
    await takeAll();
  }
  const orphans = (await count()) - 1;
  expect(orphans).toBeGreaterThan(0);
  await publish('waits');
  expect(await purgeAcknowledged(broker, [StepCompleted, OpenStepRequested])).toBe(orphans);
  expect(await count()).toBe(2);
  const consumer = await provisionConsumer(broker, 'router', StepCompleted);
  const message = await consumer.next();
  expect(message?.string()).toBe('waits');
  expect(await purgeAcknowledged(broker, [StepCompleted])).toBe(0);
  await message?.ackAck();
  await broker.jsm.streams.purge('WORK');
}, 300_000);

test('a message that is worked on, or was given back, stays, whatever was acknowledged after it', async () => {
  const consumer = await provisionConsumer(broker, 'router', StepCompleted);
  for (const text of ['worked on', 'given back', 'done']) await publish(text);
  const [worked, given, done] = [await consumer.next(), await consumer.next(), await consumer.next()];
  given?.nak(60_000);
  await done?.ackAck();
  expect(await purgeAcknowledged(broker, [StepCompleted])).toBe(0);
  expect(await count()).toBe(2);
  await worked?.ackAck();
  expect(await purgeAcknowledged(broker, [StepCompleted])).toBe(0);
  expect(await count()).toBe(1);
});
