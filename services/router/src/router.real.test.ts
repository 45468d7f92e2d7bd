import { headers } from '@flotilla/contracts/headers';
import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { AddProject } from '@flotilla/contracts/calls/add-project';
import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import { stepRequests } from '@flotilla/contracts/catalogue';
import { RunId } from '@flotilla/contracts/ids';
import { inboxPrefixOf } from '@flotilla/contracts/principals';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { intakeSubject } from '@flotilla/contracts/streams';
import { verbs, type Verb } from '@flotilla/contracts/verbs';
import { startService, type RunningService } from '@flotilla/host/start-service';
import { request } from '@flotilla/stream/calls';
import { connectBroker, type Broker } from '@flotilla/stream/connect-broker';
import { publishMessage, publishRaw } from '@flotilla/stream/publish-message';
import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { startPostgres, type PostgresServer } from '@flotilla/testing/servers/start-postgres';
import { AckPolicy } from '@nats-io/jetstream';
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done, spentTokens } from './domain/run.fixture.ts';
import { routerService } from './router.module.ts';

let nats: NatsServer;
let postgres: PostgresServer;
let router: RunningService;
let broker: Broker;
const lines: string[] = [];
const stops: (() => void)[] = [];

const start = () =>
  startService(routerService, {
    environment: { DATABASE_URL: postgres.url, NATS_URL: nats.url, FLOTILLA_LOG_FORMAT: 'json' },
    output: new Writable({ write: (chunk, _, next) => (lines.push(String(chunk)), next()) }),
  });

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
  router = await start();
  broker = await connectBroker({ url: nats.url, name: 'test' });
  await request(broker, AddProject, { name: 'slugify', remote: '/srv/git/a.git', unseen: true });
});
afterAll(async () => {
  for (const stop of stops) stop();
  await router.close();
  await broker.close();
  await Promise.all([nats.close(), postgres.close()]);
});

/** Every worker at once: answers each step as it goes well. Returns what it was asked for. */
async function workWell(): Promise<string[]> {
  const asked: string[] = [];
  for (const verb of verbs) {
    const name = `test-${verb}`;
    await broker.jsm.consumers.add('WORK', {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      filter_subject: stepRequests[verb].subject,
    });
    const messages = await (await broker.js.consumers.get('WORK', name)).consume({ max_messages: 1 });
    stops.push(() => messages.stop());
    void (async () => {
      for await (const message of messages) {
        const { runId, stepId, attempt } = message.json<{ runId: string; stepId: string; attempt: number }>();
        asked.push(`${runId} ${stepId}/${attempt}`);
        await publishMessage(broker, StepCompleted, {
          runId,
          stepId,
          attempt,
          outcome: done(verb satisfies Verb),
          spent: spentTokens(10),
        });
        message.ack();
      }
    })();
  }
  return asked;
}

/** Puts a task on the queue as any NATS client does, and waits for the answer at its inbox. */
async function queue(
  payload: unknown,
): Promise<{ readonly body: Record<string, unknown>; readonly code: string | undefined }> {
  const inbox = `${inboxPrefixOf('ann')}.${randomUUID()}`;
  const answered = Promise.withResolvers<{ body: Record<string, unknown>; code: string | undefined }>();
  const subscription = broker.nc.subscribe(inbox, {
    max: 1,
    callback: (_, message) => answered.resolve({ body: message.json(), code: message.headers?.get(headers.error) }),
  });
  await publishRaw(broker, {
    subject: `${intakeSubject('ann')}`,
    messageId: inbox,
    payload: JSON.stringify(payload),
    headers: { [headers.answerTo]: inbox },
  });
  const answer = await answered.promise;
  subscription.unsubscribe();
  return answer;
}

async function select(text: string, parameters: readonly unknown[]): Promise<Record<string, unknown> | undefined> {
  const { openStore } = await import('@flotilla/store/open-store');
  const store = await openStore({
    databaseUrl: postgres.url,
    applicationName: 'test',
    clock: () => new Date(),
    spills: { put: () => Promise.resolve(), get: () => Promise.resolve(new Uint8Array()) },
  });
  const [row] = await store.query<Record<string, unknown>>(text, parameters);
  await store.close();
  return row;
}

test(
  'a task on the queue is answered with its run, and lands when its gate is approved',
  { timeout: 60_000 },
  async () => {
    const asked = await workWell();
    const { body } = await queue({ goal: 'Keep digits.', project: 'slugify' });
    const runId = RunId.parse(body['runId']);
    expect(body).toEqual({ runId, created: true });
    const read = () => select('select state, result, gate_id, principal from published.run where run_id = $1', [runId]);
    await expect.poll(async () => (await read())?.['state'], { timeout: 20_000 }).toBe('at_gate');
    const gateId = String((await read())?.['gate_id']);
    await request(broker, DecideGate, { gateId, decision: 'approve', commit: 'c'.repeat(40) }, { principal: 'bob' });
    await expect.poll(async () => (await read())?.['result'], { timeout: 20_000 }).toBe('landed');
    expect(asked).toEqual(
      ['open', 'setup', 'plan', 'build', 'review', 'land', 'remember'].map((step) => `${runId} ${step}/1`),
    );
    expect((await read())?.['principal']).toBe('ann');
  },
);

test('a task that cannot be accepted is answered with the reason and kept as a dead letter', async () => {
  const unknown = await queue({ goal: 'X.', project: 'nobody' });
  expect(unknown).toMatchObject({ code: 'PROJECT_UNKNOWN', body: { code: 'PROJECT_UNKNOWN', status: 404 } });
  const malformed = await queue({ goal: 'X.', project: 'slugify', priority: 1 });
  expect(malformed.code).toBe('MESSAGE_MALFORMED');
  await expect.poll(async () => (await broker.jsm.streams.info('DEAD')).state.messages).toBe(2);
});

test('what was asked for is still there after a restart', { timeout: 60_000 }, async () => {
  const { runId } = await request(broker, SubmitTask, { goal: 'Wait.', project: 'slugify', externalKey: 'restart' });
  await router.close();
  router = await start();
  expect(await request(broker, SubmitTask, { goal: 'Wait.', project: 'slugify', externalKey: 'restart' })).toEqual({
    runId,
    created: false,
    warnings: [],
  });
});

test('the router logs one event a line and nothing unforeseen', () => {
  const events = lines
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event?: string; level?: unknown });
  expect(events.every(({ event }) => typeof event === 'string')).toBe(true);
  expect(events.filter(({ event }) => event === 'sweep_failed')).toEqual([]);
});
