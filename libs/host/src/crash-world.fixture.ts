import { randomBytes } from 'node:crypto';
import { GateId, RunId } from '@flotilla/contracts/ids';
import type { MessageContract } from '@flotilla/contracts/define-message';
import type { ServiceName } from '@flotilla/contracts/services';
import { durableName, streams } from '@flotilla/contracts/streams';
import { migrate, type SqlMigration } from '@flotilla/store/migrate';
import { openStore } from '@flotilla/store/open-store';
import type { Spills } from '@flotilla/store/spills';
import type { Store } from '@flotilla/store/store';
import { type Broker, connectBroker } from '@flotilla/stream/connect-broker';
import { provisionConsumer, provisionStreams } from '@flotilla/stream/provision-streams';
import { publishMessage } from '@flotilla/stream/publish-message';
import { pullMessages } from '@flotilla/stream/pull-messages';
import { runDelivery } from '@flotilla/stream/run-delivery';
import type { Handler, Stage } from '@flotilla/stream/stage';
import { MortalProcess, type PortShape } from '@flotilla/testing/crash-points/mortal-process';
import { nameAlike } from '@flotilla/testing/crash-points/name-alike';
import { startNats } from '@flotilla/testing/servers/start-nats';
import { startPostgres } from '@flotilla/testing/servers/start-postgres';
import type { EntitySchema } from '@mikro-orm/postgresql';
import { nanos } from '@nats-io/transport-node';
import type { z } from 'zod';
import { buryMessage } from './bury-message.ts';
import { createIds, type Ids } from './ids.ts';
import { readEndState, type EndState } from './crash-end-state.fixture.ts';
import { StepHandler } from './step-handler.ts';
import type { StepRequest } from './step-request.ts';
import type { StepWork } from './step-work.ts';
import { StoreGuard } from './store-guard.ts';

const storeShape: PortShape = {
  reads: ['onCommitted', 'traceContext'],
  parts: { grouped: {} },
  gives: {
    transaction: { parts: { em: { reads: ['create', 'assign', 'persist', 'remove', 'getReference', 'map'] } } },
  },
};
const brokerShape: PortShape = {
  reads: ['onReconnect', 'createInbox', 'untilConnected'],
  parts: {
    nc: { sends: ['publish'], reads: ['subscribe', 'isClosed'] },
    js: {},
    jsm: { parts: { streams: {}, consumers: {} } },
  },
};
const messageShape: PortShape = { sends: ['ack', 'nak', 'term', 'working'], reads: ['json', 'string'] };
/** No sign of life falls into a test. */
const heartbeatMs = 600_000;
const deliveriesAtMost = 12;
/** The broker knows none shorter. */
const shortestWindowMs = 100;

/** One process of a service: connections of its own, reached through the mortal that it is. */
export interface CrashProcess {
  readonly mortal: MortalProcess;
  readonly instance: string;
  readonly store: Store;
  readonly broker: Broker;
  /** In the order in which they are made. */
  readonly ids: Ids;
  /** Handles what waits for the stage, all at once. */
  handle(service: ServiceName, stage: Stage, handler: Handler<never>): Promise<void>;
  stepHandler<Request extends StepRequest>(service: ServiceName, work: StepWork<Request>): Handler<never>;
}

export interface MessageLife {
  readonly service: ServiceName;
  readonly stage: Stage;
  /** The handler of a process, as its module makes it. */
  readonly handler: (process: CrashProcess) => Handler<never> | Promise<Handler<never>>;
}

/** Servers, and processes on them that die. What a test does itself it does with `store` and `broker`. */
export async function openCrashWorld(
  options: { migrations?: readonly SqlMigration[]; entities?: readonly EntitySchema[] } = {},
) {
  const { migrations = [], entities = [] } = options;
  const [nats, postgres] = await Promise.all([startNats(), startPostgres()]);
  await migrate({ databaseUrl: postgres.url, migrations });
  const kept = new Map<string, Uint8Array>();
  const spills: Spills = {
    put: (name, bytes) => Promise.resolve(void kept.set(name, bytes)),
    get: (name) => Promise.resolve(kept.get(name) ?? new Uint8Array()),
  };
  let clock = () => new Date();
  const open = async (name: string): Promise<{ readonly store: Store; readonly broker: Broker }> => {
    const [store, broker] = await Promise.all([
      openStore({
        databaseUrl: postgres.url,
        applicationName: name,
        poolSize: 4,
        spills,
        clock: () => clock(),
        entities,
      }),
      connectBroker({ url: nats.url, name }),
    ]);
    return { store, broker };
  };
  const { store, broker } = await open('test');
  const survivor = await open('survivor');
  await provisionStreams(broker);
  await broker.jsm.streams.update('WORK', { duplicate_window: nanos(shortestWindowMs) });
  let processes = 0;
  let made = 0;
  const nextId = (): string => String((made += 1)).padStart(26, '0');
  const ids: Ids = {
    ...createIds(() => new Date(), randomBytes),
    newRunId: () => RunId.parse(`run_${nextId()}`),
    newGateId: () => GateId.parse(`gate_${nextId()}`),
  };
  const tables = await store.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema', 'public')`,
  );
  // One statement for all tables, so that rows which refer to each other go and come together.
  const withAll = (statement: (table: string, kept: string) => string): string =>
    `with ${tables.map(({ name }, place) => `t${place} as (${statement(name, `kept.t${place}`)})`).join(', ')} select 1`;
  const empty = async (): Promise<void> => {
    await store.query(withAll((table) => `delete from ${table}`));
    await Promise.all(
      Object.values(streams).map(async ({ name }) => {
        const { state } = await broker.jsm.streams.info(name);
        if (state.messages > 0) await broker.jsm.streams.purge(name);
      }),
    );
  };

  const begin = async (mortal: MortalProcess): Promise<CrashProcess & { end(): Promise<void> }> => {
    const instance = `process-${(processes += 1)}`;
    const raw = mortal.lives ? survivor : await open(instance);
    const own = {
      store: mortal.wrap('store', raw.store, storeShape),
      broker: mortal.wrap('broker', raw.broker, brokerShape),
    };
    return {
      mortal,
      instance,
      ...own,
      ids,
      stepHandler: (service, work) => makeStepHandler({ ...own, instance, service }, work),
      handle: async (service, stage, handler) => {
        const { store, broker } = own;
        const guard = new StoreGuard({
          store,
          instance,
          bury: (burial) =>
            buryMessage({ store, answer: (subject, payload) => broker.nc.publish(subject, payload) }, burial),
        });
        const ports = {
          guard,
          observer: {
            around: <T>(_: unknown, work: () => Promise<T>) => work(),
            settled: () => undefined,
            troubled: () => undefined,
          },
          heartbeatMs,
          leaseMs: heartbeatMs * 3,
          clock: () => clock(),
          monotonicMs: () => performance.now(),
        };
        const count = await countWaiting(service, stage.contract);
        if (count === 0) return;
        const given: Promise<void>[] = [];
        const shutdown = { signal: new AbortController().signal, given: new AbortController().signal };
        const consumer = await provisionConsumer(raw.broker, service, stage.contract);
        await pullMessages(consumer, {
          count,
          expiresMs: 5_000,
          signal: shutdown.signal,
          take: (message) => {
            const wrapped = mortal.wrap('message', message, messageShape);
            given.push(runDelivery(ports, stage, handler as Handler<unknown>, wrapped, shutdown));
          },
        });
        await Promise.all(given);
      },
      /** As the kernel does: what was sent is on its way, and every connection is cut. */
      end: async () => {
        await raw.broker.nc.flush();
        if (mortal.lives) return;
        await raw.broker.nc.close();
        if (!mortal.dead) return raw.store.close();
        // It answers once the connection is gone, and with it its locks, which the next process would pass over.
        await store.query('select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = $1', [
          instance,
        ]);
        void raw.store.close().catch(() => undefined);
      },
    };
  };

  /** The broker holds what was not acknowledged for the next who asks, as it would once the acknowledgement is overdue. */
  const countWaiting = async (service: ServiceName, contract: MessageContract): Promise<number> => {
    const consumer = await provisionConsumer(broker, service, contract);
    return (await consumer.info()).num_pending;
  };
  const giveAgain = async (service: ServiceName, { stream, subject }: MessageContract): Promise<void> => {
    await broker.jsm.consumers.delete(stream, durableName(service, subject)).catch(() => undefined);
  };

  return {
    nats,
    store,
    broker,
    kept,
    /** Turns the clock of all processes. */
    setClock: (next: () => Date) => void (clock = next),
    /** Nothing is there any more. */
    empty,
    /** What is in the tables now is there again after each `recall`; the streams are empty then. */
    remember: async (): Promise<void> => {
      await store.query('drop schema if exists kept cascade');
      await store.query('create schema kept');
      for (const [place, { name }] of tables.entries())
        await store.query(`create table kept.t${place} as table ${name}`);
    },
    recall: async (): Promise<void> => {
      await empty();
      await store.query(withAll((table, kept) => `insert into ${table} overriding system value select * from ${kept}`));
    },
    ids,
    publish: async <Schema extends z.ZodObject>(
      contract: MessageContract<Schema>,
      payload: z.input<Schema>,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<void> => {
      // What an earlier life published under the same id is forgotten within the shortest window.
      while ((await publishMessage(broker, contract, payload, { headers })).duplicate);
    },
    /** Runs work in a process until it ends or dies. True where it lived. */
    during: async (mortal: MortalProcess, work: (process: CrashProcess) => Promise<unknown>): Promise<boolean> => {
      const process = await begin(mortal);
      try {
        await Promise.race([work(process), mortal.died]);
        return !mortal.dead;
      } finally {
        await process.end();
      }
    },
    /** The messages of a stage in the hands of a process, and where it died in those of others, until all are settled. */
    async settle(mortal: MortalProcess, { service, stage, handler }: MessageLife): Promise<void> {
      for (let delivery = 1; delivery <= deliveriesAtMost; delivery += 1) {
        await giveAgain(service, stage.contract);
        if ((await countWaiting(service, stage.contract)) === 0) return;
        const next = delivery === 1 ? mortal : new MortalProcess();
        await this.during(next, async (process) => process.handle(service, stage, await handler(process)));
        await store.query("update flow.lease set expires_at = '-infinity'");
      }
      throw new Error(`${stage.contract.name} is not settled after ${deliveriesAtMost} deliveries`);
    },
    endState: async (): Promise<EndState> => nameAlike(await readEndState(store, broker)),
    close: async (): Promise<void> => {
      await Promise.all([store, broker, survivor.store, survivor.broker].map((each) => each.close()));
      await Promise.all([nats.close(), postgres.close()]);
    },
  };
}

export type CrashWorld = Awaited<ReturnType<typeof openCrashWorld>>;

interface StepPlace {
  readonly store: Store;
  readonly instance: string;
  readonly service: ServiceName;
}

function makeStepHandler<Request extends StepRequest>(
  { store, instance, service }: StepPlace,
  work: StepWork<Request>,
): Handler<never> {
  const ports = {
    store,
    service,
    instance,
    clock: () => new Date(),
    monotonicMs: () => performance.now(),
    metrics: { stepEnded: () => undefined },
    live: () => undefined,
    onLogGrew: () => () => undefined,
  };
  // It gets what the stage's own contract parsed.
  return new StepHandler(ports, work as unknown as StepWork<StepRequest>) as Handler<never>;
}
