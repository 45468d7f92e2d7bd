import { AddProject } from '@flotilla/contracts/calls/add-project';
import { ListDead } from '@flotilla/contracts/calls/list-dead';
import { ReplayDead } from '@flotilla/contracts/calls/replay-dead';
import { ShowDead } from '@flotilla/contracts/calls/show-dead';
import type { DeadLetter } from '@flotilla/contracts/calls/dead-view';
import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { headers } from '@flotilla/contracts/headers';
import { RunId } from '@flotilla/contracts/ids';
import { inboxPrefixOf } from '@flotilla/contracts/principals';
import { intakeSubject } from '@flotilla/contracts/streams';
import { startService, type RunningService } from '@flotilla/host/start-service';
import { request } from '@flotilla/stream/calls';
import { connectBroker, type Broker } from '@flotilla/stream/connect-broker';
import { toNatsHeaders } from '@flotilla/stream/publish-message';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { startPostgres, type PostgresServer } from '@flotilla/testing/servers/start-postgres';
import pg from 'pg';
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routerService } from './router.module.ts';

let nats: NatsServer;
let postgres: PostgresServer;
let router: RunningService;
let broker: Broker;
let database: pg.Client;

const startRouter = () =>
  startService(routerService, {
    environment: { DATABASE_URL: postgres.url, NATS_URL: nats.url, FLOTILLA_LOG_FORMAT: 'json' },
    output: new Writable({ write: (_chunk, _encoding, next) => next() }),
  });

beforeAll(async () => {
  [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
  router = await startRouter();
  broker = await connectBroker({ url: nats.url, name: 'test' });
  database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  for (const name of ['shop', 'farm'])
    await request(broker, AddProject, { name, remote: `/srv/git/${name}.git`, unseen: true });
});
afterAll(async () => {
  await database.end();
  await router.close();
  await broker.close();
  await Promise.all([nats.close(), postgres.close()]);
});

interface Answer {
  readonly body: Readonly<Record<string, unknown>>;
  readonly code: string | undefined;
}
interface Publication {
  readonly as?: string;
  readonly messageId?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** Puts bytes on the queue as any NATS client does, again where the broker says that it dropped them, and waits for the answer at an inbox of its own. */
async function publish(payload: string | Uint8Array, { as = 'ann', messageId, more = {} }: Publication = {}) {
  const inbox = `${inboxPrefixOf(as)}.${randomUUID()}`;
  const answered = Promise.withResolvers<Answer>();
  broker.nc.subscribe(inbox, {
    max: 1,
    callback: (_, message) => answered.resolve({ body: message.json(), code: message.headers?.get(headers.error) }),
  });
  const given = {
    [headers.answerTo]: inbox,
    ...(messageId === undefined ? {} : { 'Nats-Msg-Id': messageId }),
    ...more,
  };
  // Within a moment of the first the broker drops a repeat, and says so.
  await pollUntil('the broker takes the task', 5_000, async () => {
    const { duplicate } = await broker.js.publish(intakeSubject(as), payload, { headers: toNatsHeaders(given) });
    return !duplicate;
  });
  return answered.promise;
}

const publishTask = (task: unknown, options?: Publication) => publish(JSON.stringify(task), options);
const countRuns = async (): Promise<number> =>
  (await database.query<{ count: number }>('select count(*)::integer as count from router.run')).rows[0]!.count;

/** The newest letter, once there is one more than before. */
async function letterAfter(before: number): Promise<DeadLetter> {
  let newest: DeadLetter | undefined;
  await pollUntil('the letter is there', 10_000, async () => {
    newest = (await request(broker, ListDead, { limit: 1 })).letters[0];
    return (newest?.deadId ?? 0) > before;
  });
  return newest!;
}
const newestLetter = async (): Promise<number> =>
  (await request(broker, ListDead, { limit: 1 })).letters[0]?.deadId ?? 0;

const good = { goal: 'Round half up.', project: 'shop' };
const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test.each<[string, string | Uint8Array, RegExp]>([
  ['nothing', '', /it is empty/],
  ['no JSON', '{"goal":', /it is not JSON/],
  ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0x00, 0x80]), /it is not JSON/],
  ['another value', '[1]', /expected object/],
  ['an unknown field', JSON.stringify({ ...good, priority: 1 }), /"priority"/],
  ['a field that says who asks', JSON.stringify({ ...good, principal: 'root' }), /"principal"/],
  ['a pattern and an id of a framework', JSON.stringify({ pattern: 'x', id: '1', data: good }), /"pattern"/],
  ['a prototype', '{"goal":"x","project":"shop","__proto__":{"mode":"auto"}}', /"__proto__"/],
  ['a constructor', '{"goal":"x","project":"shop","constructor":{"prototype":{}}}', /"constructor"/],
  ['a list for a text', JSON.stringify({ ...good, goal: ['x'] }), /goal: .*expected string/],
  ['a missing goal', JSON.stringify({ project: 'shop' }), /goal: /],
  ['a goal of spaces', JSON.stringify({ ...good, goal: ' \n ' }), /goal: /],
  ['a goal of more than 64 KiB', JSON.stringify({ ...good, goal: 'é'.repeat(32 * 1024 + 1) }), /goal: .*65536 bytes/],
  ['a branch that git has no name for', JSON.stringify({ ...good, branch: '--upload-pack=x' }), /branch: /],
  ['half a character in a key', '{"goal":"x","project":"shop","externalKey":"a\\ud800"}', /externalKey: /],
  ['a NUL in a key', '{"goal":"x","project":"shop","externalKey":"a\\u0000"}', /externalKey: /],
  ['a nest of a hundred thousand lists', `{"goal":${deep(100_000)},"project":"shop"}`, /goal: /],
])('%s is answered with what is wrong and kept as a dead letter that can be read', async (_, payload, reason) => {
  const [runs, before] = [await countRuns(), await newestLetter()];
  const { body, code } = await publish(payload);
  expect({ code, status: body['status'] }).toEqual({ code: 'MESSAGE_MALFORMED', status: 400 });
  expect(body['detail']).toMatch(reason);
  expect(body['advice']).toMatch(/Correct the fields/);
  const letter = await letterAfter(before);
  expect(letter).toMatchObject({ code: 'MESSAGE_MALFORMED', subject: intakeSubject('ann'), advice: body['advice'] });
  expect(letter.runId).toBeUndefined();
  const shown = await request(broker, ShowDead, { deadId: letter.deadId });
  expect(shown.payloadBytes).toBe(Buffer.from(payload).length === 4 ? 10 : Buffer.from(payload).length);
  expect(await countRuns()).toBe(runs);
});

test.each([
  ['project', { goal: 'x', project: 'nobody' }, 'PROJECT_UNKNOWN', /flotilla project list/],
  ['topology', { ...good, topology: 'nothing' }, 'TOPOLOGY_UNKNOWN', /Use one of feature_builder/],
])('an unknown %s is 404 with what there is', async (_, task, expected, advice) => {
  const before = await newestLetter();
  const { body, code } = await publishTask(task);
  expect({ code, status: body['status'] }).toEqual({ code: expected, status: 404 });
  expect(body['advice']).toMatch(advice);
  expect(await letterAfter(before)).toMatchObject({ code: expected, advice: body['advice'] });
});

test('a dead task becomes a run once what it lacked is there and it is replayed, and one run however often that is asked', async () => {
  const before = await newestLetter();
  await publishTask({ goal: 'Sow.', project: 'field', externalKey: 'spring' });
  const { deadId } = await letterAfter(before);
  await request(broker, AddProject, { name: 'field', remote: '/srv/git/field.git', unseen: true });
  const runs = await countRuns();
  for (const key of ['once', 'once', 'again']) await request(broker, ReplayDead, { deadId, key });
  await pollUntil('the run is there', 10_000, async () => (await countRuns()) === runs + 1);
  const task = { goal: 'Sow.', project: 'field', externalKey: 'spring' };
  expect(await publishTask(task)).toMatchObject({ body: { created: false } });
  expect(await countRuns()).toBe(runs + 1);
});

test("an id that another publisher uses as well swallows nobody's task", async () => {
  const publishers = ['mallory', 'bob', 'carol'];
  const answers = [];
  for (const as of publishers)
    answers.push(await publishTask({ ...good, goal: `Of ${as}.` }, { as, messageId: 'ticket-1' }));
  expect(answers.map(({ body }) => body['created'])).toEqual([true, true, true]);
  expect(new Set(answers.map(({ body }) => body['runId'])).size).toBe(3);
});

test('a task that is published again is the same run and answered as such: by id, by key, without the data of the broker, a week later, after a restart', async () => {
  const [byKey, byId] = [
    { ...good, goal: 'Once.', externalKey: 'ticket-2' },
    { ...good, goal: 'Once, by its id.' },
  ];
  const runs = await countRuns();
  const first = [await publishTask(byKey), await publishTask(byId, { messageId: 'ticket-3' })];
  const same = first.map(({ body }) => ({ body: { runId: body['runId'], created: false }, code: undefined }));
  const repeat = async () =>
    expect([await publishTask(byKey), await publishTask(byId, { messageId: 'ticket-3' })]).toEqual(same);
  await repeat();
  await nats.restart({ loseData: true });
  await pollUntil('the queue is there again', 30_000, () =>
    broker.jsm.streams.info('TASKS').then(
      () => true,
      () => false,
    ),
  );
  await repeat();
  await database.query("update router.run set created_at = created_at - interval '7 days'");
  await repeat();
  await router.close();
  router = await startRouter();
  await repeat();
  expect(await request(broker, SubmitTask, byKey)).toEqual({ ...same[0]!.body, warnings: [] });
  expect(await countRuns()).toBe(runs + 2);
});

test('a key whose task is another is refused and names the run that has it', async () => {
  const { body } = await publishTask({ ...good, externalKey: 'ticket-4' });
  const other = await publishTask({ ...good, goal: 'Another.', externalKey: 'ticket-4' });
  expect(other).toMatchObject({ code: 'EXTERNAL_KEY_REUSED', body: { status: 409 } });
  expect(other.body['detail']).toContain(RunId.parse(body['runId']));
  expect(other.body['advice']).toMatch(/Use a new key/);
});

test('who asks is who the subject names, whatever headers say, and an odd id is only an id', async () => {
  const more = { 'Flotilla-Principal': 'root', actor: 'alice', 'x-user-id': 'root', traceparent: '00-nonsense' };
  const { body } = await publishTask({ ...good, goal: 'Forged.' }, { as: 'eve', messageId: `'; drop\u202e`, more });
  const { rows } = await database.query('select principal from router.run where id = $1', [body['runId']]);
  expect(rows).toEqual([{ principal: 'eve' }]);
});

test("neither an answer nor a refusal goes to another publisher's inbox", async () => {
  const heard: string[] = [];
  const subscription = broker.nc.subscribe('_INBOX_bob.>', { callback: (_, { subject }) => void heard.push(subject) });
  const more = { [headers.answerTo]: '_INBOX_bob.x' };
  const tasks = [JSON.stringify({ ...good, goal: 'For bob?' }), 'no task'];
  const before = await newestLetter();
  for (const payload of tasks)
    await pollUntil('the broker takes the task', 5_000, async () => {
      const given = { headers: toNatsHeaders(more) };
      return !(await broker.js.publish(intakeSubject('ann'), payload, given)).duplicate;
    });
  await letterAfter(before);
  await publishTask({ ...good, goal: 'Of bob himself.' }, { as: 'bob' });
  subscription.unsubscribe();
  expect(heard).toHaveLength(1);
  expect(heard).not.toContain('_INBOX_bob.x');
});

test('an id of eight thousand characters is an id like any other', async () => {
  const messageId = Array.from({ length: 800 }, (_, index) => String(index * 7919).padStart(10, 'x')).join('');
  const { body } = await publishTask({ ...good, goal: 'Long.' }, { messageId });
  expect(body).toMatchObject({ created: true });
});

test('a publisher that floods the queue is refused at a limit, loses nothing that was taken, and others are taken meanwhile', async () => {
  const { config } = await broker.jsm.streams.info('TASKS');
  expect(config).toMatchObject({ max_msgs_per_subject: 5_000, max_msg_size: 1024 * 1024 });
  await broker.jsm.streams.update('TASKS', { max_msgs_per_subject: 50 });
  const runs = await countRuns();
  const flood = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) =>
      broker.js.publish(intakeSubject('flooder'), JSON.stringify({ ...good, goal: `Flood ${index}.` })),
    ),
  );
  expect(await publishTask({ ...good, goal: 'Of bob.' }, { as: 'bob' })).toMatchObject({ body: { created: true } });
  const refusals = flood.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  expect(refusals.length).toBeGreaterThan(0);
  expect(new Set(refusals)).toEqual(new Set(['JetStreamApiError: maximum messages per subject exceeded']));
  await pollUntil('what was taken is a run', 60_000, async () => (await countRuns()) === runs + 201 - refusals.length);
  await router.close();
  router = await startRouter();
  expect((await broker.jsm.streams.info('TASKS')).config).toEqual(config);
});
