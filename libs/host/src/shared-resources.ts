import { randomBytes } from 'node:crypto';
import { inboxPrefixOf, publishedSubjects } from '@flotilla/contracts/principals';
import type { ServiceName } from '@flotilla/contracts/services';
import type { Settings } from '@flotilla/contracts/settings';
import { migrate } from '@flotilla/store/migrate';
import { openStore } from '@flotilla/store/open-store';
import { pruneFlow, subjectExpression } from '@flotilla/store/outbox';
import type { Store } from '@flotilla/store/store';
import { type Broker, connectBroker } from '@flotilla/stream/connect-broker';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { announceRaw, type OutgoingMessage } from '@flotilla/stream/publish-message';
import { createLogger, type Logger } from './create-logger.ts';
import { createIds, type Ids } from './ids.ts';
import { holdsWithin } from './health-server.ts';
import { createLazyBucket } from './lazy-bucket.ts';
import { type OutboxRelay, startOutboxRelay } from './outbox-relay.ts';
import { publishTraced } from './publish-traced.ts';
import { type Environment, readSettings, requireSetting, secretsOf } from './read-settings.ts';
import { createRedactor, type Redact } from './redact-secrets.ts';
import type { ServiceDefinition } from './service-definition.ts';
import { startTelemetry } from './start-telemetry.ts';
import { currentTraceContext } from './trace-context.ts';
import { waitOut } from './wait-out.ts';

/** What the services of one process have in common: one telemetry, one pool of connections to Postgres, one relay, a connection to the broker each. */
export interface SharedResources {
  readonly instance: string;
  /** Of the process itself. */
  readonly logger: Logger;
  readonly redact: Redact;
  readonly clock: () => Date;
  readonly monotonicMs: () => number;
  readonly ids: Ids;
  readonly store: Store;
  readonly relay: OutboxRelay;
  settingsOf(service: ServiceName): Settings;
  loggerOf(service: ServiceName): Logger;
  brokerOf(service: ServiceName): Broker;
  /** Sends what waits and closes everything. Safe to repeat. */
  close(): Promise<void>;
}

export interface SharedOptions {
  readonly definitions: readonly ServiceDefinition[];
  readonly environment: Environment;
  /** Name of the process in logs and telemetry. */
  readonly processName: string;
  /** How long lost servers are waited for at the start. Default two minutes. */
  readonly bootLimitMs?: number;
  readonly output?: NodeJS.WritableStream & { readonly fd?: number };
  readonly signal?: AbortSignal;
}

const defaultBootLimitMs = 120_000;
/** A receiver of telemetry that is away does not keep a process from ending. */
const telemetryLimitMs = 3_000;
const pruneEveryMs = 3_600_000;
const keptDays = 30;

/** Reads the settings, migrates the database, and connects; waits for servers that are not up. Throws SETTINGS_INVALID at once. */
export async function openSharedResources(options: SharedOptions): Promise<SharedResources> {
  const { definitions, environment, processName } = options;
  const names = definitions.map(({ name }) => name);
  const settings = new Map(names.map((name) => [name, readSettings(environmentOf(name, environment), name)]));
  const [first] = settings.values();
  if (first === undefined) throw new RangeError('a process has at least one service');
  const clock = () => new Date();
  const monotonicMs = () => performance.now();
  const ids = createIds(clock, randomBytes);
  const instance = `${processName}-${ids.newToken().slice(0, 10)}`;
  const redact = createRedactor(secretsOf(environment));
  const output = options.output === undefined ? {} : { output: options.output };
  const unnamed = createLogger({ instance, settings: first, redact, ...output });
  const logger = unnamed.child({ service: processName });
  const telemetry = startTelemetry({
    serviceName: processName,
    instance,
    installation: first.installation,
    endpoint: first.otlpEndpoint,
  });

  const closers: (() => Promise<unknown>)[] = [() => holdsWithin(telemetryLimitMs, () => telemetry.shutdown())];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed())
      await closer().catch((error: unknown) => logger.warn({ event: 'close_failed', reason: String(error) }));
  };
  const waiting = {
    limitMs: options.bootLimitMs ?? defaultBootLimitMs,
    signal: options.signal ?? new AbortController().signal,
    monotonicMs,
    onWait: ({ code, message }: { code: string; message: string }) =>
      logger.warn({ event: 'waiting_to_start', code, reason: message }),
  };
  try {
    const brokers = new Map<ServiceName, Broker>();
    for (const [name, own] of settings) {
      const broker = await waitOut(() => connectAs(name, own, instance, logger), waiting);
      brokers.set(name, broker);
      closers.push(() => broker.close());
    }
    const brokerOf = (service: ServiceName): Broker => required(brokers, service);
    if (brokers.has('router')) await waitOut(() => provisionStreams(brokerOf('router')), waiting);

    const databaseUrl = requireSetting(first, 'databaseUrl');
    const migrations = definitions.flatMap(({ migrations: own = [] }) => own);
    const applied = await waitOut(() => migrate({ databaseUrl, migrations }), waiting);
    if (applied.length > 0) logger.info({ event: 'database_migrated', migrations: applied });
    const spiller = names.find((name) => name !== 'gateway') ?? names[0] ?? 'router';
    const store = await waitOut(
      () =>
        openStore({
          databaseUrl,
          applicationName: instance,
          poolSize: 8 + 2 * names.length,
          spills: createLazyBucket(brokerOf(spiller), 'spills'),
          clock,
          traceContext: currentTraceContext,
          entities: definitions.flatMap(({ entities = [] }) => entities),
        }),
      waiting,
    );
    closers.push(() => store.close());
    if (brokers.has('router')) closers.push(pruneHourly(store, logger));
    const relay = startOutboxRelay({ store, logger, monotonicMs, ...publishersOf(names, brokerOf) });
    closers.push(() => relay.stop());
    return {
      instance,
      logger,
      redact,
      clock,
      monotonicMs,
      ids,
      store,
      relay,
      settingsOf: (service) => required(settings, service),
      loggerOf: (service) => unnamed.child({ service }),
      brokerOf,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A process of several services has a broker user for each: `NATS_URL_ROUTER` and so on, where they are set. */
function environmentOf(service: ServiceName, environment: Environment): Environment {
  const own = environment[`NATS_URL_${service.toUpperCase()}`];
  return own === undefined || own === '' ? environment : { ...environment, NATS_URL: own };
}

function connectAs(service: ServiceName, settings: Settings, instance: string, logger: Logger): Promise<Broker> {
  return connectBroker({
    url: requireSetting(settings, 'natsUrl'),
    name: `${service} ${instance}`,
    inboxPrefix: inboxPrefixOf(service),
    onStatus: ({ type, detail }) => {
      if (type === 'disconnect' || type === 'reconnect')
        logger.warn({ event: type === 'disconnect' ? 'broker_lost' : 'broker_back', as: service });
      if (type === 'error') logger.warn({ event: 'broker_refused', as: service, reason: detail });
    },
  });
}

/** Forgets what was published and handled a month ago. Returns how to stop. */
function pruneHourly(store: Store, logger: Logger): () => Promise<void> {
  const timer = setInterval(() => {
    pruneFlow(store, { days: keptDays }).catch((error: unknown) =>
      logger.warn({ event: 'prune_failed', reason: String(error) }),
    );
  }, pruneEveryMs);
  return () => Promise.resolve(clearInterval(timer));
}

/** Rows are published as the service whose user may. */
function publishersOf(names: readonly ServiceName[], brokerOf: (service: ServiceName) => Broker) {
  const publishers = names.map((name) => ({
    name,
    broker: brokerOf(name),
    patterns: publishedSubjects(name).map((subject) => new RegExp(subjectExpression(subject))),
  }));
  const [fallback] = publishers;
  const publisherOf = ({ subject }: OutgoingMessage) => {
    const found = publishers.find(({ patterns }) => patterns.some((pattern) => pattern.test(subject))) ?? fallback;
    if (found === undefined) throw new RangeError('a process has at least one service');
    return found;
  };
  return {
    subjects: names.flatMap(publishedSubjects),
    connected: () => publishers.every(({ broker }) => broker.connected),
    publish: async (message: OutgoingMessage) => {
      const { name, broker } = publisherOf(message);
      await publishTraced(name, broker, message);
    },
    announce: (message: OutgoingMessage) => announceRaw(publisherOf(message).broker, message),
  };
}

function required<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new RangeError(`this process has no service ${String(key)}`);
  return value;
}
