import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { calls } from '@flotilla/contracts/call-catalogue';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { headers } from '@flotilla/contracts/headers';
import { inboxPrefixOf, renderNatsAuthorization } from '@flotilla/contracts/principals';
import { type ServiceName, serviceNames } from '@flotilla/contracts/services';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { request, serve } from '@flotilla/stream/calls';
import { connectBroker } from '@flotilla/stream/connect-broker';
import { publishRaw } from '@flotilla/stream/publish-message';
import { type Delivery, type Handler, stage } from '@flotilla/stream/stage';
import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { type PostgresServer, startPostgres } from '@flotilla/testing/servers/start-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Writable } from 'node:stream';
import type { Store } from '@flotilla/store/store';
import { eventually, planned, planRequest, plannerDefinition } from './host.fixture.ts';
import type { ServiceDefinition } from './service-definition.ts';
import { startServices } from './start-services.ts';

let nats: NatsServer;
let postgres: PostgresServer;
const passwords = Object.fromEntries([...serviceNames, 'local'].map((name) => [name, `p-${name}`])) as Record<
  ServiceName | 'local',
  string
>;
beforeAll(async () => {
  [nats, postgres] = await Promise.all([
    startNats({ configuration: renderNatsAuthorization(passwords, { 'c_i-1@x': 'p-c_i-1@x' }) }),
    startPostgres(),
  ]);
});
afterAll(async () => {
  await Promise.all([nats?.close(), postgres?.close()]);
});

const completions: StepCompleted[] = [];
class CompleteHandler implements Handler<StepCompleted> {
  readonly store: Store;
  constructor(store: Store) {
    this.store = store;
  }
  async handle(message: StepCompleted, { messageId, stage: name }: Delivery): Promise<void> {
    await this.store.transaction((transaction) => transaction.completeInbox(messageId, name));
    completions.push(message);
  }
}
class AcceptHandler implements Handler<TaskSubmitted> {
  readonly store: Store;
  constructor(store: Store) {
    this.store = store;
  }
  async handle({ project }: TaskSubmitted, { messageId, stage: name }: Delivery): Promise<void> {
    if (project === 'unknown') throw new FlotillaError(errors.projectUnknown, { project });
    await this.store.transaction(async (transaction) => {
      await transaction.completeInbox(messageId, name);
      await transaction.publish(PlanStepRequested, planRequest());
    });
  }
}
class RouterModule {}

/** As little of a router as has every stage and call that the catalogue gives it. */
const router: ServiceDefinition = {
  name: 'router',
  stages: [
    stage(TaskSubmitted, AcceptHandler, { budget: { attempts: 2, delaysMs: [10] }, concurrency: 2 }),
    stage(StepCompleted, CompleteHandler, { budget: { attempts: 2, delaysMs: [10] }, concurrency: 2 }),
  ],
  module: ({ store }) => ({
    module: RouterModule,
    providers: [
      { provide: AcceptHandler, useFactory: () => new AcceptHandler(store) },
      { provide: CompleteHandler, useFactory: () => new CompleteHandler(store) },
    ],
  }),
  calls: () =>
    callCatalogue
      .filter(({ servedBy, kind }) => servedBy === 'router' && kind !== 'stream')
      .map((call) => serve(call, () => Promise.reject(new FlotillaError(errors.runUnknown, { runId: 'x' })))),
};

test('services of one process work under their own broker users, from a task on the queue to the answer, and stop', async () => {
  const urls = Object.fromEntries(
    serviceNames.map((name) => [`NATS_URL_${name.toUpperCase()}`, `nats://${name}:p-${name}@127.0.0.1:${nats.port}`]),
  );
  const environment = {
    ...urls,
    NATS_URL: nats.url,
    DATABASE_URL: postgres.url,
    FLOTILLA_DATA_DIRECTORY: '/tmp',
    FLOTILLA_SANDBOX_IMAGE: 'none',
  };
  const lines: string[] = [];
  const output = new Writable({ write: (chunk: Buffer, _, done) => (lines.push(chunk.toString()), done()) });
  const services = await startServices([router, plannerDefinition(() => Promise.resolve(planned))], {
    environment,
    output,
    bootLimitMs: 20_000,
  });
  const readiness = await fetch(`http://127.0.0.1:${services.port}/ready`);
  expect(await readiness.json()).toMatchObject({
    status: 'ready',
    checks: { 'router.nats': true, 'planner.postgres': true },
  });

  const connect = (user: string) =>
    connectBroker({ url: nats.url, name: user, user, password: `p-${user}`, inboxPrefix: inboxPrefixOf(user) });
  const [ci, gateway] = await Promise.all([connect('c_i-1@x'), connect('gateway')]);
  const submit = (project: string, answerTo: string) =>
    publishRaw(ci, {
      subject: 'flotilla.tasks.submitted.c_i-1@x',
      messageId: project,
      payload: JSON.stringify({ ...TaskSubmitted.example, project }),
      headers: { [headers.answerTo]: answerTo },
    });
  await submit('known', ci.createInbox());
  await eventually('the planner answered and the router heard it', () => completions.length === 1);
  expect(completions[0]).toMatchObject({ outcome: { kind: 'done' } });

  const inbox = ci.createInbox();
  const refusals: { code: string | undefined; body: unknown }[] = [];
  ci.nc.subscribe(inbox, {
    callback: (_, message) => void refusals.push({ code: message.headers?.get(headers.error), body: message.json() }),
  });
  await ci.nc.flush();
  await submit('unknown', inbox);
  await eventually('the publisher is told why its task was refused', () => refusals.length === 1);
  expect(refusals).toMatchObject([{ code: 'PROJECT_UNKNOWN', body: { code: 'PROJECT_UNKNOWN', remedy: 'caller' } }]);

  await expect(request(gateway, calls.cancelRun, { runId: OpenStepRequested.example.runId })).rejects.toMatchObject({
    code: 'RUN_UNKNOWN',
  });
  await Promise.all([ci.close(), gateway.close()]);
  await services.close();
  expect(lines.join('')).not.toMatch(/broker_refused|p-router/);
});
