import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { startNats, type NatsServer } from '@flotilla/testing/servers/start-nats';
import { type Broker, connectBroker } from './connect-broker.ts';
import type { Settlement } from './decide-settlement.ts';
import type { Burial, Claim, DeliveryGuard, DeliveryObserver } from './delivery-guard.ts';
import { provisionStreams } from './provision-streams.ts';
import { pullMessages } from './pull-messages.ts';
import type { Handler, Stage } from './stage.ts';
import { stage } from './stage.ts';
import { StageRunner, type StageRunnerOptions } from './stage-runner.ts';

export const ackWaitMs = 1_000;
const heartbeatMs = 300;

export type OpenRequest = ReturnType<typeof openRequest>;
let runs = 0;
/** A request that no other test sends. */
export function openRequest() {
  runs += 1;
  const runId = `run_${String(runs).padStart(26, '0')}`;
  return OpenStepRequested.payload.parse({ ...OpenStepRequested.example, runId });
}

/** What a store keeps of deliveries, in memory and shared by the runners of a test: one lease a message, counted failures. */
export function createMemoryGuard() {
  const held = new Map<string, number>();
  const failures = new Map<string, number>();
  const handled = new Set<string>();
  let fences = 0;
  const settled: { readonly messageId: string; readonly settlement: Settlement }[] = [];
  const buried: Burial[] = [];
  const release = ({ arrival, lease }: Claim): void => {
    if (held.get(arrival.messageId) === lease?.fence) held.delete(arrival.messageId);
  };
  const guard: DeliveryGuard = {
    begin: (arrival) => {
      const { messageId } = arrival;
      if (handled.has(messageId)) return Promise.resolve({ kind: 'handled' });
      if (held.has(messageId)) return Promise.reject(new FlotillaError(errors.leaseHeld, { key: messageId }));
      fences += 1;
      held.set(messageId, fences);
      const lease = { key: messageId, holder: 'test', fence: fences };
      return Promise.resolve({ kind: 'proceed', claim: { arrival, failures: failures.get(messageId) ?? 0, lease } });
    },
    renew: ({ arrival, lease }) => Promise.resolve(held.get(arrival.messageId) === lease?.fence),
    settle: (claim, settlement) => {
      const { messageId } = claim.arrival;
      settled.push({ messageId, settlement });
      if (settlement.kind === 'acknowledged') handled.add(messageId);
      if (settlement.kind === 'later' && settlement.counted)
        failures.set(messageId, (failures.get(messageId) ?? 0) + 1);
      release(claim);
      return Promise.resolve();
    },
    bury: (burial) => {
      buried.push(burial);
      if (burial.claim !== undefined) release(burial.claim);
      return Promise.resolve();
    },
  };
  return { guard, settled, buried, held, handled };
}

export const silentObserver: DeliveryObserver = {
  around: (_, work) => work(),
  settled: () => undefined,
  troubled: () => undefined,
};

export interface RunnerSetup {
  readonly guard: DeliveryGuard;
  readonly handle: (message: OpenRequest, delivery: Parameters<Handler<never>['handle']>[1]) => Promise<void>;
  readonly concurrency?: number;
  readonly attempts?: number;
  readonly observer?: DeliveryObserver;
  readonly broker?: Broker;
  readonly prepare?: () => Promise<void>;
  readonly monotonicMs?: () => number;
}

class OpenHandler implements Handler<OpenRequest> {
  handle(): Promise<void> {
    return Promise.resolve();
  }
}

function openStage({ concurrency = 1, attempts = 3 }: Partial<RunnerSetup> = {}): Stage {
  return stage(OpenStepRequested, OpenHandler, { budget: { attempts, delaysMs: [20, 50] }, concurrency });
}

/** A broker with streams, and runners on it that are stopped with it. */
export async function createStreamFixture() {
  const nats: NatsServer = await startNats();
  const brokers: Broker[] = [];
  const runners: StageRunner[] = [];
  const connect = async (): Promise<Broker> => {
    const broker = await connectBroker({ url: nats.url, name: 'test' });
    brokers.push(broker);
    return broker;
  };
  const broker = await connect();
  await provisionStreams(broker);
  return {
    nats,
    broker,
    connect,
    startRunner: async (setup: RunnerSetup): Promise<StageRunner> => {
      const options: StageRunnerOptions = {
        broker: setup.broker ?? broker,
        service: 'merger',
        stage: openStage(setup),
        handler: { handle: setup.handle } as Handler<never>,
        guard: setup.guard,
        observer: setup.observer ?? silentObserver,
        clock: () => new Date(0),
        ackWaitMs,
        ...(setup.prepare === undefined ? {} : { prepare: setup.prepare }),
        ...(setup.monotonicMs === undefined ? {} : { monotonicMs: setup.monotonicMs }),
        heartbeatMs,
      };
      const runner = new StageRunner(options);
      runners.push(runner);
      await runner.start();
      return runner;
    },
    stopRunners: async () => {
      await Promise.all(runners.splice(0).map((runner) => runner.stop({ finishMs: 0, abortMs: 0 })));
    },
    close: async () => {
      await Promise.all(runners.map((runner) => runner.stop({ finishMs: 0, abortMs: 0 })));
      await Promise.all(brokers.map((each) => each.close()));
      await nats.close();
    },
  };
}

/** The next message; throws where none comes or the broker refuses. */
export async function pullOne(consumer: Consumer): Promise<JsMsg> {
  const messages: JsMsg[] = [];
  const signal = new AbortController().signal;
  const pulled = await pullMessages(consumer, {
    count: 1,
    expiresMs: 5_000,
    signal,
    take: (each) => messages.push(each),
  });
  const [message] = messages;
  if (message === undefined) throw new Error(`no message but ${pulled.kind}`);
  return message;
}
