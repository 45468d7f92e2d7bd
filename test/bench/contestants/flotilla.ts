import { randomUUID } from 'node:crypto';
import { LogAdvanced } from '@flotilla/contracts/messages/log-advanced';
import { headers as headerNames } from '@flotilla/contracts/headers';
import type { Resources } from '@flotilla/host/service-definition';
import { startServices } from '@flotilla/host/start-services';
import { type Broker, connectBroker } from '@flotilla/stream/connect-broker';
import { publishRaw } from '@flotilla/stream/publish-message';
import pg from 'pg';
import type { Contestant, ContestantSettings } from '../contestant.ts';
import { noOpServices, topology } from './no-op-services.ts';

/** The fleet's own services in one process, each message through the broker. A run is submitted on the queue, as anybody's would be. */
export async function open(settings: ContestantSettings): Promise<Contestant> {
  const statements = countStatements();
  const found: Resources[] = [];
  const services = await startServices(
    noOpServices((resources) => found.push(resources)),
    {
      environment: {
        DATABASE_URL: settings.databaseUrl,
        NATS_URL: settings.natsUrl,
        REDIS_URL: settings.redisUrl,
        OTEL_EXPORTER_OTLP_ENDPOINT: settings.otlpUrl,
        FLOTILLA_DATA_DIRECTORY: settings.directory,
        FLOTILLA_SANDBOX_IMAGE: 'none',
        FLOTILLA_LOG_FORMAT: 'json',
      },
    },
  );
  const store = found[0]?.store;
  if (store === undefined) throw new Error('no service was started');
  await store.query(
    `insert into router.project (name, definition, created_at) values ('bench', $1, now()) on conflict (name) do nothing`,
    [JSON.stringify({ name: 'bench', remote: '/srv/bench.git', topology, checks: [], setup: [] })],
  );
  const broker = await connectBroker({ url: settings.natsUrl, name: 'bench' });
  const runs = await followRuns(broker);
  return {
    runOnce: async () => {
      const task = randomUUID();
      const ended = runs.begin(task);
      await publishRaw(broker, {
        subject: 'flotilla.tasks.submitted',
        messageId: `task/${task}`,
        payload: JSON.stringify({ goal: `Nothing, for ${task}.`, project: 'bench', topology }),
        headers: { [headerNames.answerTo]: runs.answerTo(task) },
      });
      await ended;
    },
    counters: async () => {
      const [row] = await store.query<Record<string, number>>(
        `select xact_commit::float8 as commits, (pg_current_wal_lsn() - '0/0')::float8 as "walBytes",
                (select wal_sync::float8 from pg_stat_wal) as "walSyncs"
           from pg_stat_database where datname = current_database()`,
      );
      const streams = await Promise.all(
        ['TASKS', 'WORK', 'EVENTS'].map(async (name) => (await broker.jsm.streams.info(name)).state.last_seq),
      );
      const traffic = found.map((resources) => resources.broker.nc.stats());
      const sum = (read: (stats: (typeof traffic)[number]) => number) =>
        traffic.reduce((total, stats) => total + read(stats), 0);
      return {
        ...row,
        statements: statements.count(),
        streamMessages: streams.reduce((total, last) => total + last, 0),
        brokerFrames: sum(({ inMsgs, outMsgs }) => inMsgs + outMsgs),
        brokerBytes: sum(({ inBytes, outBytes }) => inBytes + outBytes),
        ...statements.byText(),
      };
    },
    close: async () => {
      await broker.close();
      await services.close();
    },
  };
}

/** Resolves `begin(task)` when the run that the task became has ended, as its wake-ups tell. */
async function followRuns(broker: Broker) {
  const ended = new Set<string>();
  const waiting = new Map<string, () => void>();
  const tasks = new Map<string, () => void>();
  const prefix = broker.createInbox();
  broker.nc.subscribe(`${prefix}.*`, {
    callback: (_, message) => {
      const { runId } = message.json<{ readonly runId: string }>();
      const task = message.subject.slice(prefix.length + 1);
      const resolve = tasks.get(task);
      tasks.delete(task);
      if (resolve === undefined) return;
      if (ended.delete(runId)) resolve();
      else waiting.set(runId, resolve);
    },
  });
  broker.nc.subscribe('flotilla.events.*', {
    callback: (_, message) => {
      const text = message.string();
      if (!text.includes('run.ended')) return;
      const { runId } = LogAdvanced.payload.parse(JSON.parse(text));
      const resolve = waiting.get(runId);
      if (resolve === undefined) ended.add(runId);
      else resolve();
      waiting.delete(runId);
    },
  });
  await broker.nc.flush();
  return {
    answerTo: (task: string) => `${prefix}.${task}`,
    begin: (task: string) => new Promise<void>((resolve) => void tasks.set(task, resolve)),
  };
}

/** Counts what this process asks of Postgres, by the first words of each statement. */
function countStatements() {
  const texts = new Map<string, number>();
  let count = 0;
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: unknown, ...given: unknown[]) {
    const [first] = given;
    const text = typeof first === 'string' ? first : ((first as { readonly text?: string }).text ?? '');
    count += 1;
    const key = `sql ${text.replace(/\s+/g, ' ').slice(0, 60)}`;
    texts.set(key, (texts.get(key) ?? 0) + 1);
    return query.apply(this, given);
  } as typeof pg.Client.prototype.query;
  return { count: () => count, byText: () => Object.fromEntries(texts) };
}
