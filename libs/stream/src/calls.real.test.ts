import { CancelRun } from '@flotilla/contracts/calls/cancel-run';
import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Broker, connectBroker } from './connect-broker.ts';
import { request, serve, serveCalls } from './calls.ts';

const runId = 'run_00000000000000000000000001';
const observer = { around: <T>(_: unknown, work: () => Promise<T>) => work(), answered: () => undefined };

let nats: NatsServer;
let asker: Broker;
let answerer: Broker;
let stop: () => Promise<void>;
beforeAll(async () => {
  nats = await startNats();
  asker = await connectBroker({ url: nats.url, name: 'asker' });
  answerer = await connectBroker({ url: nats.url, name: 'answerer' });
  stop = serveCalls(answerer, 'router', [serve(CancelRun, ({ runId }) => Promise.resolve({ runId, state: 'ended' }))], {
    observer,
  });
  await answerer.nc.flush();
});
afterAll(async () => {
  await stop?.();
  await asker?.close();
  await answerer?.close();
  await nats?.close();
});

const lost = (broker: Broker) =>
  new Promise<void>((resolve) => {
    const look = (): void => void (broker.connected ? setImmediate(look) : resolve());
    look();
  });

test('what is asked while the broker is away is asked once it is back', async () => {
  await nats.kill();
  await lost(asker);
  const answer = request(asker, CancelRun, { runId }, { timeoutMs: 20_000 });
  await nats.start();
  expect(await answer).toEqual({ runId, state: 'ended' });
});

test('what nobody hears yet is asked again until somebody does', async () => {
  await stop();
  const unheard = Promise.withResolvers<undefined>();
  const nc = new Proxy(asker.nc, {
    get: (target, key) =>
      key === 'request'
        ? (...asked: Parameters<Broker['nc']['request']>) =>
            target.request(...asked).catch((error: unknown) => {
              unheard.resolve(undefined);
              throw error;
            })
        : (Reflect.get(target, key) as unknown),
  });
  const broker = { ...asker, nc, connected: true };
  const answer = request(broker, CancelRun, { runId }, { timeoutMs: 20_000 });
  await unheard.promise;
  stop = serveCalls(
    answerer,
    'router',
    [serve(CancelRun, ({ runId }) => Promise.resolve({ runId, state: 'cancelling' }))],
    {
      observer,
    },
  );
  expect(await answer).toEqual({ runId, state: 'cancelling' });
});

test('a broker that stays away is told as away, and that nothing was asked', async () => {
  await nats.kill();
  await lost(asker);
  await expect(request(asker, CancelRun, { runId }, { timeoutMs: 200 })).rejects.toMatchObject({
    code: 'BROKER_UNAVAILABLE',
    remedy: 'wait',
  });
  await nats.start();
});
