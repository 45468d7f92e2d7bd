import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { type NatsServer, startNats } from '@flotilla/testing/servers/start-nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Broker, connectBroker, OLDEST_SERVER } from './connect-broker.ts';
import { openBucket } from './open-bucket.ts';
import { provisionConsumer, provisionStreams } from './provision-streams.ts';
import { publishMessage } from './publish-message.ts';
import { pullOne } from './stream.fixture.ts';

/** What nats-server 2.9.10 reads of each request; a newer field would be passed over there without a word. */
const known = {
  'STREAM.CREATE':
    'name description subjects retention max_consumers max_msgs max_bytes max_age max_msgs_per_subject max_msg_size discard discard_new_per_subject storage num_replicas no_ack duplicate_window placement mirror sources sealed deny_delete deny_purge allow_rollup_hdrs republish allow_direct mirror_direct',
  'CONSUMER.CREATE':
    'durable_name name description deliver_policy opt_start_seq opt_start_time ack_policy ack_wait max_deliver backoff filter_subject replay_policy rate_limit_bps sample_freq max_waiting max_ack_pending headers_only max_batch max_expires max_bytes deliver_subject deliver_group flow_control idle_heartbeat inactive_threshold num_replicas mem_storage',
  'CONSUMER.MSG.NEXT': 'batch expires max_bytes no_wait idle_heartbeat',
  'STREAM.MSG.GET': 'seq last_by_subj next_by_subj',
  'STREAM.PURGE': 'seq keep filter',
  'STREAM.INFO': 'deleted_details subjects_filter offset',
  'CONSUMER.INFO': '',
  'CONSUMER.DELETE': '',
  'DIRECT.GET': 'seq last_by_subj next_by_subj',
  INFO: '',
} as const;
type Api = keyof typeof known;

let nats: NatsServer;
let broker: Broker;
let watcher: Broker;
const asked: { readonly api: string; readonly fields: readonly string[] }[] = [];
const acknowledgements: string[] = [];

beforeAll(async () => {
  nats = await startNats();
  watcher = await connectBroker({ url: nats.url, name: 'watcher' });
  watcher.nc.subscribe('$JS.API.>', {
    callback: (_, message) => {
      const { subject, data } = message;
      const api = Object.keys(known).find((name) => `${subject}.`.startsWith(`$JS.API.${name}.`)) ?? subject;
      asked.push({ api, fields: data.length === 0 ? [] : fieldsOf(message.json()) });
    },
  });
  watcher.nc.subscribe('$JS.ACK.>', { callback: (_, message) => void acknowledgements.push(message.string()) });
  await watcher.nc.flush();
  broker = await connectBroker({ url: nats.url, name: 'test' });
  // The client refuses what the server is too old for; on a newer one it is told to do so all the same.
  const { protocol } = broker.nc as unknown as { protocol: { features: { update(version: string): void } } };
  protocol.features.update(OLDEST_SERVER);
});
afterAll(async () => {
  await broker?.close();
  await watcher?.close();
  await nats?.close();
});

/** The configuration of a consumer lies in a field of its own; `action` is how newer clients say that they mean to create it. */
function fieldsOf(body: Readonly<Record<string, unknown>>): readonly string[] {
  const { config } = body;
  return typeof config === 'object' && config !== null ? Object.keys(config) : Object.keys(body);
}

test('all that is asked of the broker is there in the oldest server', async () => {
  await provisionStreams(broker);
  await provisionStreams(broker);
  const consumer = await provisionConsumer(broker, 'merger', OpenStepRequested);
  await provisionConsumer(broker, 'router', StepCompleted);
  await provisionConsumer(broker, 'router', { stream: 'TASKS', subject: 'flotilla.tasks.submitted' });
  for (const settle of ['ack', 'later', 'term'] as const) {
    const runId = `run_${settle.padStart(26, '0')}`;
    await publishMessage(broker, OpenStepRequested, { ...OpenStepRequested.example, runId });
    const message = await pullOne(consumer);
    message.working();
    if (settle === 'ack') message.ack();
    if (settle === 'later') message.nak(60_000);
    if (settle === 'term') message.term();
  }
  const bucket = await openBucket(broker, 'spills');
  const bytes = new Uint8Array(200_000).fill(7);
  await bucket.put('run/one', bytes);
  expect(await bucket.get('run/one')).toEqual(bytes);
  expect(await bucket.list('run/')).toEqual(['run/one']);
  await bucket.delete('run/one');
  await broker.jsm.streams.getMessage('WORK', { last_by_subj: OpenStepRequested.subject });
  await broker.nc.flush();
  await watcher.nc.flush();

  expect(new Set(asked.map(({ api }) => api)).size).toBeGreaterThan(5);
  const unknown = asked.flatMap(({ api, fields }) => {
    const names = api in known ? known[api as Api].split(' ') : [];
    const news = fields.filter((field) => !names.includes(field));
    return api in known ? news.map((field) => `${field} of ${api}`) : [api];
  });
  expect([...new Set(unknown)]).toEqual([]);
  expect(new Set(acknowledgements)).toEqual(new Set(['+WPI', '+ACK', '-NAK {"delay":60000000000}', '+TERM']));
});
