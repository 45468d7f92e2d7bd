import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { calls } from '@flotilla/contracts/call-catalogue';
import type { WatchEvent } from '@flotilla/contracts/calls/watch-run';
import { roles } from '@flotilla/contracts/define-call';
import { RunEnded, TaskAccepted } from '@flotilla/contracts/events/run-events';
import { RunId } from '@flotilla/contracts/ids';
import { inboxPrefixOf } from '@flotilla/contracts/principals';
import { Problem } from '@flotilla/contracts/problem';
import { eventsSubject, liveSubject } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { createLazyBucket } from '@flotilla/host/lazy-bucket';
import { type RunningService, startService } from '@flotilla/host/start-service';
import { openStore } from '@flotilla/store/open-store';
import type { Store } from '@flotilla/store/store';
import { type CallContext, serve, serveCalls } from '@flotilla/stream/calls';
import { type Broker, connectBroker } from '@flotilla/stream/connect-broker';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { type NatsServer, startNats } from '@flotilla/testing/servers/start-nats';
import { type PostgresServer, startPostgres } from '@flotilla/testing/servers/start-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatewayService } from './gateway.module.ts';

const token = 'a-token-for-this-test';
const headers = { authorization: `Bearer ${token}` };
const runIdOf = (n: number) => RunId.parse(`run_${String(n).padStart(26, '0')}`);

let nats: NatsServer;
let postgres: PostgresServer;
let directory: string;
let gateway: RunningService;
let broker: Broker;
let store: Store;
let url: string;
const logged: Record<string, unknown>[] = [];
const asked: { name: string; principal: string | undefined; traceparent: string | undefined }[] = [];
let stopRouter: () => Promise<void>;

/** Stands for the router: answers a few calls as their examples say, and refuses one. */
function serveRouter(): () => Promise<void> {
  const note = (name: string, { principal, headers: given }: CallContext) =>
    asked.push({ name, principal, traceparent: given.get('traceparent') });
  return serveCalls(
    broker,
    'router',
    [
      serve(calls.submitTask, (_, context) => {
        note('submitTask', context);
        return Promise.resolve({ runId: runIdOf(1), created: true, warnings: [] });
      }),
      serve(calls.cancelRun, ({ runId }) =>
        Promise.reject(new FlotillaError(errors.runEnded, { runId, result: 'landed' })),
      ),
    ],
    { observer: { around: (_, work) => work(), answered: () => undefined } },
  );
}

/** The views as their contract says, over tables of this test. */
const viewStatements = [
  'create schema published',
  `create table published.run (run_id text, project text, goal text, topology text, mode text, principal text, external_key text,
     retry_of text, state text, step_id text, result text, commit text, branch text, code text, message text, advice text,
     gate_id text, budget json, spent json, traceparent text, created_at timestamptz, ended_at timestamptz,
     archived_at timestamptz, archive text)`,
  `create table published.gate (gate_id text, run_id text, project text, goal text, question text, state text, change json,
     opened_at timestamptz, decided_at timestamptz, decision text, decided_by text, comment text)`,
  'create table published.project (name text, definition json, created_at timestamptz)',
];

async function addRun(runId: RunId): Promise<void> {
  await store.query(
    `insert into published.run (run_id, project, goal, topology, mode, principal, state, step_id, branch, budget, spent, created_at)
     values ($1, 'slugify', 'Keep digits.', 'feature_builder', 'normal', 'anna', 'running', 'build', 'main',
       '{"turns":80,"calls":240,"tokens":800000,"microdollars":5000000,"seconds":3600}',
       '{"turns":1,"calls":2,"tokens":300,"microdollars":null,"seconds":2.5}', '2030-01-01T12:34:56.789Z')`,
    [runId],
  );
}

async function append(runId: RunId, count: number, { tell = true } = {}): Promise<void> {
  const payload = TaskAccepted.payload.parse(TaskAccepted.example);
  await store.transaction((tx) =>
    tx.appendLog(
      runId,
      Array.from({ length: count }, () => ({ type: TaskAccepted.type, payload })),
    ),
  );
  if (tell) broker.nc.publish(eventsSubject(runId));
}

async function end(runId: RunId, { tell = true } = {}): Promise<void> {
  const payload = RunEnded.payload.parse(RunEnded.example);
  await store.transaction(async (tx) => {
    await tx.appendLog(runId, [{ type: RunEnded.type, payload }]);
    await tx.query(`update published.run set state = 'ended', result = 'landed', commit = $2 where run_id = $1`, [
      runId,
      payload.commit,
    ]);
  });
  if (tell) broker.nc.publish(eventsSubject(runId));
}

const get = (path: string, extra: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers: { ...headers, ...extra } });
const watch = (runId: RunId, after = 0) => get(`/v1/runs/${runId}/events`, { 'last-event-id': String(after) });

async function collect(response: Response): Promise<readonly WatchEvent[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => calls.watchRun.response.parse(JSON.parse(data ?? '')));
}
const sequences = (events: readonly WatchEvent[]) =>
  events.flatMap((event) => (event.event === 'entry' ? [event.entry.sequence] : []));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-gateway-'));
  const tokensFile = join(directory, 'tokens.json');
  await writeFile(tokensFile, JSON.stringify([{ token, principal: 'anna', roles }]), { mode: 0o600 });
  [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
  broker = await connectBroker({ url: nats.url, name: 'test', inboxPrefix: inboxPrefixOf('test') });
  await provisionStreams(broker);
  stopRouter = serveRouter();
  gateway = await startService(gatewayService, {
    environment: {
      DATABASE_URL: postgres.url,
      NATS_URL: nats.url,
      FLOTILLA_TOKENS_FILE: tokensFile,
      FLOTILLA_HTTP_PORT: '0',
      FLOTILLA_LOG_FORMAT: 'json',
    },
    output: new Writable({
      write: (chunk: Buffer, _, done) => {
        for (const line of chunk.toString().split('\n').filter(Boolean))
          logged.push(JSON.parse(line) as Record<string, unknown>);
        done();
      },
    }),
  });
  store = await openStore({
    databaseUrl: postgres.url,
    applicationName: 'test',
    spills: createLazyBucket(broker, 'spills'),
    clock: () => new Date(),
  });
  for (const statement of viewStatements) await store.query(statement);
  await pollUntil('the gateway listens', 5_000, () => logged.some(({ event }) => event === 'http_listening'));
  url = String(logged.find(({ event }) => event === 'http_listening')?.['url']);
});
afterAll(async () => {
  await gateway.close();
  await store.close();
  await stopRouter();
  await broker.close();
  await Promise.all([nats.close(), postgres.close()]);
  await rm(directory, { recursive: true });
});

const post = (path: string, body: unknown) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('it is healthy, ready, and lets nobody in without a token', async () => {
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(await (await fetch(`${url}/ready`)).json()).toEqual({
    status: 'ready',
    needs: { postgres: true, nats: true },
  });
  expect((await fetch(`${url}/v1/runs`)).status).toBe(401);
});

test('a command reaches the router as who the token names, in the trace of the request', async () => {
  const response = await post('/v1/tasks', { goal: 'Keep digits.', project: 'slugify' });
  expect(await response.json()).toEqual({ runId: runIdOf(1), created: true, warnings: [] });
  expect(asked).toEqual([
    { name: 'submitTask', principal: 'anna', traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) },
  ]);
  await pollUntil('the request is logged', 2_000, () =>
    logged.some(({ event, trace_id }) => event === 'http_answered' && trace_id === asked[0]?.traceparent?.slice(3, 35)),
  );
});

test('a refusal of the router keeps its code, status and advice, and gains the trace id', async () => {
  const response = await post(`/v1/runs/${runIdOf(1)}/cancel`, {});
  expect(response.status).toBe(409);
  const problem = Problem.parse(await response.json());
  expect(problem).toMatchObject({ code: 'RUN_ENDED', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(problem.advice).not.toBe('');
});

test('without a router a command is 503 and says what is missing', async () => {
  const response = await post(`/v1/dead/7/replay`, {});
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(Problem.parse(await response.json())).toMatchObject({ code: 'CALL_UNANSWERED', remedy: 'wait' });
});

test('views and log answer queries, page by page', async () => {
  for (const n of [10, 11, 12]) await addRun(runIdOf(n));
  await append(runIdOf(10), 5);
  const first = calls.listRuns.response.parse(await (await get('/v1/runs?limit=2')).json());
  expect(first.runs.map(({ runId }) => runId)).toEqual([runIdOf(12), runIdOf(11)]);
  expect(first.runs[0]?.createdAt).toBe('2030-01-01T12:34:56.789Z');
  const second = calls.listRuns.response.parse(await (await get(`/v1/runs?limit=2&before=${first.next}`)).json());
  expect([second.runs.map(({ runId }) => runId), second.next]).toEqual([[runIdOf(10)], undefined]);

  const shown = calls.showRun.response.parse(await (await get(`/v1/runs/${runIdOf(10)}`)).json());
  expect(shown.run).toMatchObject({ state: 'running', spent: { microdollars: null, milliseconds: 2500 } });
  const log = calls.listEvents.response.parse(await (await get(`/v1/runs/${runIdOf(10)}/log?after=1&limit=2`)).json());
  expect([log.entries.map(({ sequence }) => sequence), log.next]).toEqual([[2, 3], 3]);
});

test.each([
  ['/v1/runs/run_00000000000000000000000099', 'RUN_UNKNOWN'],
  ['/v1/runs/run_00000000000000000000000099/events', 'RUN_UNKNOWN'],
  ['/v1/gates/gate_00000000000000000000000099', 'GATE_UNKNOWN'],
  ['/v1/projects/nothing', 'PROJECT_UNKNOWN'],
])('%s is 404 %s', async (path, code) => {
  const response = await get(path);
  expect([response.status, Problem.parse(await response.json()).code]).toEqual([404, code]);
});

test('wherever watchers go on, each sees every entry once and in order while several writers commit', async () => {
  const runId = runIdOf(20);
  await addRun(runId);
  await append(runId, 130);
  const starts = [0, 1, 64, 99, 100, 101, 129, 130];
  const watching = starts.map(async (after) => collect(await watch(runId, after)));
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let burst = 0; burst < 10; burst += 1) await append(runId, 1 + (burst % 4));
    }),
  );
  await end(runId);
  const seen = await Promise.all(watching);
  const last = 130 + 4 * (1 + 2 + 3 + 4 + 1 + 2 + 3 + 4 + 1 + 2) + 1;
  expect(seen.map(sequences)).toEqual(starts.map((after) => range(after + 1, last)));
  expect(seen.every((events) => events.at(-1)?.event === 'done')).toBe(true);
});

test('an entry that nobody announced is sent within seconds all the same', async () => {
  const runId = runIdOf(21);
  await addRun(runId);
  const watching = watch(runId).then(collect);
  await append(runId, 3, { tell: false });
  await end(runId, { tell: false });
  expect(sequences(await watching)).toEqual([1, 2, 3, 4]);
});

test('words of the model pass through the broker to whoever watches', async () => {
  const runId = runIdOf(22);
  await addRun(runId);
  let text = '';
  const reading = (async () => {
    for await (const chunk of (await watch(runId)).body ?? []) text += Buffer.from(chunk).toString();
  })();
  await pollUntil('a word arrives', 5_000, () => {
    broker.nc.publish(liveSubject(runId), 'I look at the tests.');
    return text.includes('event: live\ndata: {"event":"live"');
  });
  await end(runId);
  await reading;
  expect(text).toContain('event: done');
});

test('payloads that were spilled are sent whole', async () => {
  const runId = runIdOf(24);
  await addRun(runId);
  const goal = 'x'.repeat(100_000);
  const payload = TaskAccepted.payload.parse({ ...TaskAccepted.example, goal });
  await store.transaction((tx) => tx.appendLog(runId, [{ type: TaskAccepted.type, payload }]));
  await end(runId);
  const [first] = await collect(await watch(runId));
  expect(first).toMatchObject({ event: 'entry', entry: { payload: { goal } } });
});

test('a watch outlives the loss of the broker', async () => {
  const runId = runIdOf(23);
  await addRun(runId);
  const watching = watch(runId).then(collect);
  await append(runId, 2);
  await nats.kill();
  await append(runId, 2, { tell: false });
  await end(runId, { tell: false });
  expect(sequences(await watching)).toEqual([1, 2, 3, 4, 5]);
  await pollUntil('it says that it is not ready', 5_000, async () => (await fetch(`${url}/ready`)).status === 503);
  await nats.start();
  await pollUntil('it is ready again', 10_000, async () => (await fetch(`${url}/ready`)).status === 200);
});
