import { renderNatsAuthorization } from '@flotilla/contracts/principals';
import { catalogue } from '@flotilla/contracts/catalogue';
import { calls } from '@flotilla/contracts/call-catalogue';
import { inboxPrefixOf } from '@flotilla/contracts/principals';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { streams } from '@flotilla/contracts/streams';
import { type ServiceName, serviceNames } from '@flotilla/contracts/services';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { type NatsServer, startNats } from '@flotilla/testing/servers/start-nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request, serve, serveCalls } from './calls.ts';
import { type Broker, connectBroker } from './connect-broker.ts';
import { publishLive, subscribeEvents, subscribeLive } from './live.ts';
import { openBucket } from './open-bucket.ts';
import { provisionConsumer, provisionStreams } from './provision-streams.ts';
import { purgeAcknowledged } from './purge-acknowledged.ts';
import { publishMessage, publishRaw } from './publish-message.ts';
import { pullOne } from './stream.fixture.ts';

let nats: NatsServer;
const brokers = new Map<string, Broker>();
const refusals: string[] = [];

beforeAll(async () => {
  const users = [...serviceNames, 'local'] as const;
  const passwords = Object.fromEntries(users.map((user) => [user, `p-${user}`])) as Record<
    ServiceName | 'local',
    string
  >;
  nats = await startNats({ configuration: renderNatsAuthorization(passwords, { ci: 'p-ci' }) });
  for (const user of [...users, 'ci']) {
    const onStatus = ({ type, detail }: { type: string; detail?: string }) => {
      if (type === 'error') refusals.push(`${user}: ${detail}`);
    };
    const options = {
      url: nats.url,
      name: user,
      user,
      password: `p-${user}`,
      inboxPrefix: inboxPrefixOf(user),
      onStatus,
    };
    brokers.set(user, await connectBroker(options));
  }
  await provisionStreams(as('router'));
});
afterAll(async () => {
  for (const broker of brokers.values()) await broker.close();
  await nats?.close();
});

function as(user: string): Broker {
  const broker = brokers.get(user);
  if (broker === undefined) throw new Error(`no user ${user}`);
  return broker;
}
const runId = OpenStepRequested.example.runId;

test('with their permissions the router asks, a worker takes and answers, and the router hears it', async () => {
  await publishMessage(as('router'), OpenStepRequested, OpenStepRequested.example);
  const work = await pullOne(await provisionConsumer(as('merger'), 'merger', OpenStepRequested));
  work.working();
  work.ack();
  await publishMessage(as('merger'), StepCompleted, StepCompleted.example);
  await pullOne(await provisionConsumer(as('router'), 'router', StepCompleted));
  expect(refusals).toEqual([]);
});

test('the router may sweep every work queue, and nobody else may purge one', async () => {
  for (const contract of catalogue.filter(({ stream }) => streams[stream].retention === 'workqueue'))
    await provisionConsumer(as(contract.consumer), contract.consumer, contract);
  await publishRaw(as('merger'), {
    subject: StepCompleted.subject,
    messageId: 'swept',
    payload: JSON.stringify(StepCompleted.example),
    headers: {},
  });
  await purgeAcknowledged(as('router'), catalogue);
  expect(refusals).toEqual([]);
  for (const user of [...serviceNames.filter((name) => name !== 'router'), 'local'])
    await expect(as(user).jsm.streams.purge('WORK')).rejects.toThrow();
  expect((await as('router').jsm.streams.info('WORK')).state.messages).toBeGreaterThan(0);
  refusals.length = 0;
});

test('bundles go from one worker to another, and spills to the gateway', async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  const changes = await openBucket(as('executor'), 'changes');
  await changes.put('run/build/1', bytes);
  await changes.put('run/build/1', new Uint8Array(1));
  const read = await (await openBucket(as('reviewer'), 'changes')).get('run/build/1');
  expect(Buffer.compare(read, bytes)).toBe(0);
  expect(await changes.list('run/')).toEqual(['run/build/1']);
  await changes.delete('run/build/1');
  await expect(changes.get('run/build/1')).rejects.toMatchObject({ code: 'OBJECT_MISSING' });
  await (await openBucket(as('planner'), 'spills')).put('run/spilled', bytes);
  const spilled = await (await openBucket(as('gateway'), 'spills')).get('run/spilled');
  expect(Buffer.compare(spilled, bytes)).toBe(0);
  expect(refusals).toEqual([]);
});

test('the gateway calls the router, and the router answers with a result or a problem', async () => {
  const stop = serveCalls(
    as('router'),
    'router',
    [
      serve(calls.cancelRun, ({ runId }, { principal }) =>
        principal === 'ann'
          ? Promise.resolve({ runId, state: 'cancelling' as const })
          : Promise.reject(new Error('boom')),
      ),
    ],
    { observer: { around: (_, work) => work(), answered: () => undefined } },
  );
  await as('router').nc.flush();
  expect(await request(as('gateway'), calls.cancelRun, { runId }, { principal: 'ann' })).toEqual({
    runId,
    state: 'cancelling',
  });
  await expect(request(as('gateway'), calls.cancelRun, { runId })).rejects.toMatchObject({
    code: 'FAILURE_UNCLASSIFIED',
  });
  await expect(request(as('gateway'), calls.cancelRun, { runId: 'no' })).rejects.toMatchObject({
    code: 'CALL_INVALID',
    details: { violations: [{ path: 'runId' }] },
  });
  await expect(request(as('gateway'), calls.retryRun, { runId })).rejects.toMatchObject({
    code: 'CALL_UNANSWERED',
    remedy: 'wait',
  });
  await stop();
});

test('what a step says is heard by the gateway, and that a log grew by the workers too', async () => {
  const heard: string[] = [];
  const stops = [
    subscribeLive(as('gateway'), runId, (text) => heard.push(text)),
    subscribeEvents(as('merger'), runId, (id) => heard.push(id)),
  ];
  await Promise.all([as('gateway').nc.flush(), as('merger').nc.flush()]);
  publishLive(as('executor'), runId, 'thinking');
  await publishRaw(as('router'), { subject: `flotilla.events.${runId}`, messageId: 'e1', payload: '{}' });
  await pollUntil('both are heard', 5_000, () => heard.length === 2);
  expect(heard.toSorted()).toEqual([runId, 'thinking'].toSorted());
  for (const stop of stops) stop();
});

test('a publisher puts a task on the queue under its own name and gets the answer on its own inbox', async () => {
  const inbox = as('ci').createInbox();
  const answers: string[] = [];
  as('ci').nc.subscribe(inbox, { callback: (_, message) => void answers.push(message.string()) });
  await publishRaw(as('ci'), {
    subject: 'flotilla.tasks.submitted.ci',
    messageId: 't1',
    payload: JSON.stringify(TaskSubmitted.example),
  });
  const task = await pullOne(await provisionConsumer(as('router'), 'router', TaskSubmitted));
  task.ack();
  expect(task.subject).toBe('flotilla.tasks.submitted.ci');
  as('router').nc.publish(inbox, 'run_1');
  await pollUntil('the answer arrives', 5_000, () => answers.length === 1);
});

test.each([
  ['ci', 'flotilla.tasks.submitted'],
  ['ci', 'flotilla.tasks.submitted.local'],
  ['local', 'flotilla.command.decideGate'],
  ['ci', 'flotilla.step.completed'],
  ['planner', 'flotilla.step.requested.merger.land'],
  ['executor', 'flotilla.tasks.submitted'],
  ['gateway', 'flotilla.step.completed'],
  ['scribe', 'flotilla.dead.TaskSubmitted'],
  ['merger', '_INBOX_router.x'],
])('%s is refused on %s', async (user, subject) => {
  const refused = publishRaw(as(user), { subject, messageId: `refused/${user}/${subject}`, payload: '{}' });
  await expect(refused).rejects.toMatchObject({ code: 'BROKER_REFUSED', remedy: 'operator' });
});

test.each([
  ['planner', 'flotilla.live.*'],
  ['ci', 'flotilla.events.*'],
  ['ci', `flotilla.events.${runId}`],
  ['local', 'flotilla.events.*'],
  ['ci', 'flotilla.>'],
  ['ci', '_INBOX_router.>'],
  ['ci', '_INBOX.>'],
  ['executor', 'flotilla.command.decideGate'],
])('%s may not listen on %s', async (user, subject) => {
  const ended = Promise.withResolvers<Error | null>();
  as(user).nc.subscribe(subject, { callback: (error) => ended.resolve(error) });
  expect(String(await ended.promise)).toMatch(/permissions violation/i);
});

test('a worker cannot take the messages of another', async () => {
  await expect(provisionConsumer(as('planner'), 'merger', OpenStepRequested)).rejects.toMatchObject({
    code: 'BROKER_REFUSED',
  });
  await expect(openBucket(as('scribe'), 'changes')).rejects.toMatchObject({ code: 'BROKER_REFUSED' });
});

test('a user with a wrong password is refused', async () => {
  const refused = connectBroker({ url: nats.url, name: 'x', user: 'router', password: 'no' });
  await expect(refused).rejects.toMatchObject({ code: 'BROKER_REFUSED' });
});
