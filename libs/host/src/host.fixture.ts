import { inboxPrefixOf } from '@flotilla/contracts/principals';
import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { nothingSpent } from '@flotilla/contracts/allowance';
import type { RunId, StepId } from '@flotilla/contracts/ids';
import { migrate } from '@flotilla/store/migrate';
import { openStore } from '@flotilla/store/open-store';
import type { Store } from '@flotilla/store/store';
import { type Broker, connectBroker } from '@flotilla/stream/connect-broker';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { publishMessage } from '@flotilla/stream/publish-message';
import { pollUntil } from '@flotilla/testing/servers/child-server';
import { startNats } from '@flotilla/testing/servers/start-nats';
import { startPostgres } from '@flotilla/testing/servers/start-postgres';
import { Writable } from 'node:stream';
import { createLazyBucket } from './lazy-bucket.ts';
import { startService, type RunningService } from './start-service.ts';
import { stepStage } from './step-stage.ts';
import type { ServiceDefinition } from './service-definition.ts';
import type { StepAnswer, StepContext, StepWork } from './step-work.ts';

export type PlanRequest = ReturnType<typeof planRequest>;
let runs = 0;
/** A request that no other test sends. */
export function planRequest(fields: { readonly deadline?: string } = {}) {
  runs += 1;
  const runId = `run_${String(runs).padStart(26, '0')}`;
  const deadline = new Date(Date.now() + 600_000).toISOString();
  return PlanStepRequested.payload.parse({ ...PlanStepRequested.example, runId, deadline, ...fields });
}

export const planned: StepAnswer = {
  outcome: { kind: 'done', result: { verb: 'plan', plan: 'Do it.' } },
  spent: nothingSpent,
};

export type Work = (request: PlanRequest, context: StepContext) => Promise<StepAnswer>;

export class PlanWork implements StepWork<PlanRequest> {
  readonly #work: Work;
  readonly findDone?: NonNullable<StepWork<PlanRequest>['findDone']>;
  constructor(work: Work, findDone?: StepWork<PlanRequest>['findDone']) {
    this.#work = work;
    if (findDone !== undefined) this.findDone = findDone;
  }
  work(request: PlanRequest, context: StepContext): Promise<StepAnswer> {
    return this.#work(request, context);
  }
}

class PlannerModule {}

export function plannerDefinition(
  work: Work,
  options: { attempts?: number; concurrency?: number; findDone?: StepWork<PlanRequest>['findDone'] } = {},
): ServiceDefinition {
  const { attempts = 3, concurrency = 2 } = options;
  return {
    name: 'planner',
    stages: [stepStage(PlanStepRequested, PlanWork, { concurrency, budget: { attempts, delaysMs: [20] } })],
    module: () => ({
      module: PlannerModule,
      providers: [{ provide: PlanWork, useFactory: () => new PlanWork(work, options.findDone) }],
    }),
  };
}

/** Servers with streams and schema, and services on them that end with them. */
export async function createHostFixture() {
  const [nats, postgres] = await Promise.all([startNats(), startPostgres({ private: true })]);
  await migrate({ databaseUrl: postgres.url });
  const broker: Broker = await connectBroker({ url: nats.url, name: 'test', inboxPrefix: inboxPrefixOf('test') });
  await provisionStreams(broker);
  const store: Store = await openStore({
    databaseUrl: postgres.url,
    applicationName: 'test',
    spills: createLazyBucket(broker, 'spills'),
    clock: () => new Date(),
  });
  const services: RunningService[] = [];
  const logged: Record<string, unknown>[] = [];
  const lines: string[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      for (const line of chunk.toString().split('\n').filter(Boolean)) {
        lines.push(line);
        logged.push(JSON.parse(line) as Record<string, unknown>);
      }
      done();
    },
  });
  const environment = {
    DATABASE_URL: postgres.url,
    NATS_URL: nats.url,
    FLOTILLA_DATA_DIRECTORY: '/tmp',
    FLOTILLA_SANDBOX_IMAGE: 'none',
    FLOTILLA_LOG_FORMAT: 'json',
  };
  return {
    nats,
    postgres,
    broker,
    store,
    environment,
    logged,
    lines,
    output,
    start: async (definition: ServiceDefinition): Promise<RunningService> => {
      const service = await startService(definition, { environment, output, bootLimitMs: 20_000 });
      services.push(service);
      return service;
    },
    stopAll: async () => {
      await Promise.all(services.splice(0).map((service) => service.close()));
    },
    request: async (request: PlanRequest): Promise<string> => {
      await publishMessage(broker, PlanStepRequested, request);
      return PlanStepRequested.messageId(request);
    },
    /** The answers to a step that the broker was given, in order. */
    answers: async ({
      runId,
      stepId,
      attempt,
    }: {
      runId: string;
      stepId: string;
      attempt: number;
    }): Promise<readonly StepCompleted[]> => {
      const rows = await store.query<{ payload: string }>(
        'select payload from flow.outbox where message_id = $1 and published_at is not null order by id',
        [`${runId}/${stepId}/${attempt}/completed`],
      );
      return rows.map(({ payload }) => StepCompleted.payload.parse(JSON.parse(payload)));
    },
    entries: async (runId: RunId, stepId: StepId) => (await store.readLog(runId, { stepId })).map(({ type }) => type),
    close: async () => {
      await Promise.all(services.map((service) => service.close()));
      await store.close();
      await broker.close();
      await Promise.all([nats.close(), postgres.close()]);
    },
  };
}

export type HostFixture = Awaited<ReturnType<typeof createHostFixture>>;

export function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  return pollUntil(what, 30_000, holds);
}
