import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectBroker, type Broker } from './connect-broker.ts';
import { type Bucket, openBucket } from './open-bucket.ts';
import { provisionStreams } from './provision-streams.ts';

let nats: NatsServer;
let broker: Broker;
let bucket: Bucket;
beforeAll(async () => {
  nats = await startNats();
  broker = await connectBroker({ url: nats.url, name: 'test' });
  await provisionStreams(broker);
  bucket = await openBucket(broker, 'changes');
});
afterAll(async () => {
  await broker.close();
  await nats.close();
});

const bytes = (text: string) => new TextEncoder().encode(text.repeat(100_000));
const messages = async () => (await broker.jsm.streams.info('OBJ_changes')).state.messages;

test('what is deleted leaves nothing in the bucket, whatever characters its name is made of', async () => {
  const names = ['run_1/build/1', 'base/abc', 'x~?/>>~'];
  for (const name of names) await bucket.put(name, bytes('a'));
  expect((await bucket.listObjects()).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  for (const name of [...names, ...names, 'never there']) await bucket.delete(name);
  expect([await messages(), await bucket.listObjects()]).toEqual([0, []]);
});

test('what was stored anew since it was looked at stays whole', async () => {
  await bucket.put('base/1', bytes('a'));
  const [old] = await bucket.listObjects();
  await bucket.renew('base/1', bytes('b'));
  expect(await bucket.deleteUnchanged(old!)).toBe(false);
  expect(await bucket.get('base/1')).toEqual(bytes('b'));
  const young = await bucket.find('base/1');
  expect(young!.storedAt.getTime()).toBeGreaterThan(old!.storedAt.getTime());
  expect(await bucket.deleteUnchanged(young!)).toBe(true);
  expect([await bucket.find('base/1'), await messages()]).toEqual([undefined, 0]);
});

test('what was deleted can be stored again', async () => {
  for (const text of ['a', 'b']) {
    await bucket.put('run_1/again', bytes(text));
    expect(await bucket.get('run_1/again')).toEqual(bytes(text));
    await bucket.delete('run_1/again');
  }
});
