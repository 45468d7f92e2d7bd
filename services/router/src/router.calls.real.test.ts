import { AddProject } from '@flotilla/contracts/calls/add-project';
import { CancelRun } from '@flotilla/contracts/calls/cancel-run';
import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import { ListDead } from '@flotilla/contracts/calls/list-dead';
import { RemoveProject } from '@flotilla/contracts/calls/remove-project';
import { ReplayDead } from '@flotilla/contracts/calls/replay-dead';
import { RetryRun } from '@flotilla/contracts/calls/retry-run';
import { ShowDead } from '@flotilla/contracts/calls/show-dead';
import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { CommitId } from '@flotilla/contracts/ids';
import { exampleDeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { deadSubject } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { request, serve, serveCalls } from '@flotilla/stream/calls';
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
const observer = { around: <T>(_: unknown, work: () => Promise<T>) => work(), answered: () => undefined };
/** Stands for the merger: every remote has `main`, but one that does not answer. */
const serveMerger = () =>
  serveCalls(
    broker,
    'merger',
    [
      serve(InspectRemote, async ({ remote, branch = 'main', lookForTests }) => {
        if (remote === '/srv/absent.git') throw new FlotillaError(errors.remoteNotFound, { remote, reason: 'none' });
        if (branch === 'nope') throw new FlotillaError(errors.branchUnknown, { remote, branch, branches: 'main' });
        return {
          ...{ repository: `file:${remote}`, branch, commit: CommitId.parse('c'.repeat(40)) },
          checkedOut: remote === '/srv/checked-out',
          ...(lookForTests ? { tests: 'none' as const } : {}),
        };
      }),
    ],
    { observer },
  );
let stopMerger: () => Promise<void>;
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
    archive: { answer: () => Promise.resolve({ runs: [], more: false }) },
    topologies: new Set(['feature_builder', 'quick_fix']),
    inspectRemote: (input, options) => request(broker, InspectRemote, input, options),
  });
  stop = serveCalls(broker, 'router', calls, { observer });
  stopMerger = serveMerger();
});
afterAll(async () => {
  await Promise.all([stop(), stopMerger()]);
  await broker.close();
  await Promise.all([nats.close(), fixture.close()]);
});

const principal = 'ann';

test('a client adds a project, submits a task, decides its gate and is told who did', async () => {
  const added = await request(broker, AddProject, { name: 'shop', remote: '/srv/git/shop.git' }, { principal });
  expect(added).toMatchObject({
    created: true,
    project: { name: 'shop', topology: 'feature_builder', branch: 'main' },
  });
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

test('a remote that a run could not open is refused before its project is there', async () => {
  await expect(request(broker, AddProject, { name: 'gone', remote: '/srv/absent.git' })).rejects.toMatchObject({
    code: 'REMOTE_NOT_FOUND',
    status: 400,
  });
  await expect(request(broker, SubmitTask, { goal: 'X.', project: 'gone' })).rejects.toMatchObject({
    code: 'PROJECT_UNKNOWN',
  });
  const unseen = await request(broker, AddProject, { name: 'gone', remote: '/srv/absent.git', unseen: true });
  expect(unseen).toMatchObject({ created: true });
  expect(unseen.project.branch).toBeUndefined();
});

test('what would keep its runs from landing is told as a project is added', async () => {
  const add = async (project: object) =>
    (await request(broker, AddProject, { name: 'warned', remote: '/srv/checked-out', replace: true, ...project }))
      .warnings;
  expect((await add({})).map(({ code }) => code)).toEqual(['BRANCH_CHECKED_OUT', 'TESTS_NOT_DETECTED']);
  expect((await add({ checks: ['make test'] })).map(({ code }) => code)).toEqual(['BRANCH_CHECKED_OUT']);
  expect(await add({ remote: '/srv/bare.git', unchecked: true })).toEqual([]);
});

test('a branch that the remote has not is refused with the task, unless the task has its run already', async () => {
  await request(broker, AddProject, { name: 'branched', remote: '/srv/branched.git' });
  const task = { goal: 'X.', project: 'branched', branch: 'nope', externalKey: 'once' };
  await expect(request(broker, SubmitTask, task)).rejects.toMatchObject({ code: 'BRANCH_UNKNOWN', status: 400 });
  await stopMerger();
  await broker.nc.flush();
  const unasked = await request(broker, SubmitTask, task);
  expect(unasked).toMatchObject({ created: true, warnings: [{ code: 'BRANCH_NOT_ASKED' }] });
  stopMerger = serveMerger();
  await broker.nc.flush();
  expect(await request(broker, SubmitTask, task)).toEqual({ runId: unasked.runId, created: false, warnings: [] });
  expect((await request(broker, SubmitTask, { ...task, branch: 'main', externalKey: 'twice' })).warnings).toEqual([]);
});

test('without a merger no project is added unseen, unless that is asked for', async () => {
  await stopMerger();
  await broker.nc.flush();
  const asked = { name: 'unasked', remote: '/srv/unasked.git' };
  await expect(request(broker, AddProject, asked)).rejects.toMatchObject({ code: 'REMOTE_NOT_ASKED', status: 503 });
  expect((await request(broker, AddProject, { ...asked, unseen: true })).created).toBe(true);
  stopMerger = serveMerger();
});

test('a project is removed once its runs have ended; its name is free and its runs stay', async () => {
  const asked = { name: 'brief', remote: '/srv/brief.git', credential: 'shared' };
  await request(broker, AddProject, asked);
  await request(broker, AddProject, { ...asked, name: 'other' });
  const { runId } = await request(broker, SubmitTask, { goal: 'X.', project: 'brief' });
  await expect(request(broker, RemoveProject, { name: 'brief' })).rejects.toMatchObject({
    code: 'PROJECT_IN_USE',
    status: 409,
    message: expect.stringContaining(runId),
  });
  await request(broker, CancelRun, { runId });
  expect(await request(broker, RemoveProject, { name: 'brief' })).toMatchObject({
    project: { name: 'brief', remote: '/srv/brief.git' },
    credentialUsed: true,
  });
  expect((await fixture.readRun(runId)).project.name).toBe('brief');
  for (const refused of [
    () => request(broker, RemoveProject, { name: 'brief' }),
    () => request(broker, RetryRun, { runId }),
    () => request(broker, SubmitTask, { goal: 'X.', project: 'brief' }),
  ])
    await expect(refused()).rejects.toMatchObject({ code: 'PROJECT_UNKNOWN', status: 404 });
  expect(await request(broker, RemoveProject, { name: 'other' })).toMatchObject({ credentialUsed: false });
  expect((await request(broker, AddProject, { ...asked, remote: '/srv/new.git' })).created).toBe(true);
});

test('a task that comes while its project is removed is accepted or refused, and never without its project', async () => {
  for (let round = 0; round < 10; round += 1) {
    await request(broker, AddProject, { name: 'race', remote: '/srv/race.git' });
    const [accepted, removed] = await Promise.allSettled([
      request(broker, SubmitTask, { goal: `Round ${round}.`, project: 'race' }),
      request(broker, RemoveProject, { name: 'race' }),
    ]);
    expect([accepted.status, removed.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    if (accepted.status === 'fulfilled') await request(broker, CancelRun, { runId: accepted.value.runId });
  }
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
