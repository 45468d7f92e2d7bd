import { AddProject } from '@flotilla/contracts/calls/add-project';
import { CancelRun } from '@flotilla/contracts/calls/cancel-run';
import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import { ListDead } from '@flotilla/contracts/calls/list-dead';
import { ReplayDead } from '@flotilla/contracts/calls/replay-dead';
import { RetryRun } from '@flotilla/contracts/calls/retry-run';
import { ShowDead } from '@flotilla/contracts/calls/show-dead';
import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { exampleDeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { deadSubject } from '@flotilla/contracts/streams';
import { request, serveCalls } from '@flotilla/stream/calls';
import { connectBroker, type Broker } from '@flotilla/stream/connect-broker';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { publishRaw } from '@flotilla/stream/publish-message';
import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeadStream } from './dead-stream.ts';
import { DeadLetters } from './dead-letters.ts';
import { createRouterCalls } from './router.calls.ts';
import { createRouterFixture, type RouterFixture } from './store/router.fixture.ts';

let nats: NatsServer;
let broker: Broker;
let fixture: RouterFixture;
let stop: () => Promise<void>;
let occasions = 0;
beforeAll(async () => {
  [nats, fixture] = await Promise.all([startNats(), createRouterFixture()]);
  broker = await connectBroker({ url: nats.url, name: 'test' });
  await provisionStreams(broker);
  const { intake, runs, projects } = fixture;
  const calls = createRouterCalls({
    intake,
    runs,
    projects,
    deadLetters: new DeadLetters(createDeadStream(broker, () => String((occasions += 1)))),
    topologies: new Set(['feature_builder', 'quick_fix']),
  });
  stop = serveCalls(broker, 'router', calls, { observer: { around: (_, work) => work(), answered: () => undefined } });
});
afterAll(async () => {
  await stop();
  await broker.close();
  await Promise.all([nats.close(), fixture.close()]);
});

const principal = 'ann';

test('a client adds a project, submits a task, decides its gate and is told who did', async () => {
  const added = await request(broker, AddProject, { name: 'shop', remote: '/srv/git/shop.git' }, { principal });
  expect(added).toMatchObject({ created: true, project: { name: 'shop', topology: 'feature_builder' } });
  const { runId, created } = await request(broker, SubmitTask, { goal: 'Sell.', project: 'shop' }, { principal });
  expect(created).toBe(true);
  expect((await fixture.readRun(runId)).principal).toBe('ann');
  const gate = await fixture.until(runId, 'gate');
  const decided = await request(
    broker,
    DecideGate,
    { gateId: gate!.gateId, decision: 'approve', commit: gate!.change.commit },
    { principal: 'bob' },
  );
  expect(decided).toMatchObject({ runId, by: 'bob', decision: 'approve' });
  expect((await fixture.readRun(runId)).position).toMatchObject({ kind: 'step', stepId: 'land' });
});

test('a client gets the real refusal with its status', async () => {
  await expect(request(broker, SubmitTask, { goal: 'X.', project: 'nobody' }, { principal })).rejects.toMatchObject({
    code: 'PROJECT_UNKNOWN',
    status: 404,
  });
  await expect(
    request(broker, AddProject, { name: 'shop2', remote: 'https://a:b@example.com/x' }),
  ).rejects.toMatchObject({ code: 'PROJECT_REMOTE_INVALID', status: 400 });
  await expect(
    request(broker, AddProject, { name: 'shop2', remote: '/srv/x', topology: 'nothing' }),
  ).rejects.toMatchObject({ code: 'TOPOLOGY_UNKNOWN', status: 404 });
  await expect(request(broker, CancelRun, { runId: `run_${'9'.repeat(26)}` })).rejects.toMatchObject({
    code: 'RUN_UNKNOWN',
    status: 404,
  });
});

test('the remote is judged before the name: what can never be added is not told as taken', async () => {
  await request(broker, AddProject, { name: 'taken', remote: '/srv/taken.git' });
  await expect(request(broker, AddProject, { name: 'taken', remote: 'http://a.example.com/x' })).rejects.toMatchObject({
    code: 'PROJECT_REMOTE_INVALID',
    status: 400,
  });
  await expect(request(broker, AddProject, { name: 'taken', remote: '/srv/other.git' })).rejects.toMatchObject({
    code: 'PROJECT_EXISTS',
  });
});

test('a client cancels a run and asks for its task again', async () => {
  const runId = await fixture.submit();
  expect(await request(broker, CancelRun, { runId, reason: 'Wrong.' }, { principal })).toEqual({
    runId,
    state: 'ended',
  });
  const retried = await request(broker, RetryRun, { runId }, { principal });
  expect(retried.created).toBe(true);
  expect(await fixture.readRun(retried.runId)).toMatchObject({ retryOf: runId, principal: 'ann' });
});

test('a dead task goes back to the queue under a new id', async () => {
  const dead = await publishRaw(broker, {
    subject: deadSubject('TaskSubmitted'),
    messageId: 'dead-1',
    payload: JSON.stringify(exampleDeadLetterRecord),
  });
  expect((await request(broker, ListDead, {})).letters).toMatchObject([{ deadId: dead.seq, code: 'PROJECT_UNKNOWN' }]);
  expect(await request(broker, ShowDead, { deadId: dead.seq })).toMatchObject({ payload: { project: 'slugify' } });
  expect(await request(broker, ReplayDead, { deadId: dead.seq }, { principal })).toEqual({
    deadId: dead.seq,
    messageId: `replay/${dead.seq}/1`,
  });
  const queued = await broker.jsm.streams.getMessage('TASKS', { last_by_subj: exampleDeadLetterRecord.subject });
  expect(queued?.string()).toBe(exampleDeadLetterRecord.payload);
  const before = (await broker.jsm.streams.info('TASKS')).state.messages;
  for (const key of [undefined, 'k', 'k']) await request(broker, ReplayDead, { deadId: dead.seq, key }, { principal });
  expect((await broker.jsm.streams.info('TASKS')).state.messages).toBe(before + 2);
  await expect(request(broker, ReplayDead, { deadId: dead.seq + 100 })).rejects.toMatchObject({ code: 'DEAD_UNKNOWN' });
});
