import { randomUUID } from 'node:crypto';
import { AckPolicy, jetstream, jetstreamManager, type JsMsg, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Contestant, ContestantSettings } from '../contestant.ts';

const steps = 6;

/** Six hops through a file-backed work-queue stream: publish, await the broker, acknowledge. No database, no log, no fence. */
export async function open({ natsUrl }: ContestantSettings): Promise<Contestant> {
  const { username, password, host } = new URL(natsUrl);
  const nc = await connect({ servers: host, user: decodeURIComponent(username), pass: decodeURIComponent(password) });
  const js = jetstream(nc);
  const jsm = await jetstreamManager(nc);
  const stream = {
    name: 'BENCH',
    subjects: ['bench.*'],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
  };
  await jsm.streams.add(stream);
  const ended = new Map<string, (nothing: undefined) => void>();
  const hop = async (message: JsMsg, step: number): Promise<void> => {
    const run = message.string();
    if (step + 1 < steps) await js.publish(`bench.${step + 1}`, run, { msgID: `${run}/${step + 1}` });
    message.ack();
    if (step + 1 === steps) ended.get(run)?.(undefined);
  };
  for (let step = 0; step < steps; step += 1) {
    const durable = `step-${step}`;
    await jsm.consumers.add('BENCH', {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      filter_subject: `bench.${step}`,
    });
    const consumer = await js.consumers.get('BENCH', durable);
    await consumer.consume({
      max_messages: 64,
      callback: (message) => void hop(message, step),
    });
  }
  return {
    runOnce: async () => {
      const run = randomUUID();
      const end = Promise.withResolvers<undefined>();
      ended.set(run, end.resolve);
      await js.publish('bench.0', run, { msgID: `${run}/0` });
      await end.promise;
      ended.delete(run);
    },
    close: () => nc.close(),
  };
}
