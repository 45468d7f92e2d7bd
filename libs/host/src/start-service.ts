import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { checkStages } from './check-service.ts';
import {
  type HealthServer,
  holdsWithin,
  type LifeSigns,
  type ReadinessChecks,
  startHealthServer,
} from './health-server.ts';
import { createLazyBucket } from './lazy-bucket.ts';
import { createMetrics } from './metrics.ts';
import { createNestLogger } from './nest-logger.ts';
import type { Environment } from './read-settings.ts';
import type { GetProvider, Resources, ServiceDefinition } from './service-definition.ts';
import { openSharedResources, type SharedResources } from './shared-resources.ts';
import { StageTransport } from './stage-transport.ts';
import { WorkIntake } from './work-intake.ts';

export interface RunningService {
  /** Port of /health and /ready; absent where the process serves them for several services. */
  readonly port?: number;
  readonly checks: ReadinessChecks;
  readonly signs: LifeSigns;
  /** Drains, settles and closes. Safe to repeat. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Default: the process's. */
  readonly environment?: Environment;
  /** Given where several services share a process, which then closes it. */
  readonly shared?: SharedResources;
  readonly bootLimitMs?: number;
  readonly output?: NodeJS.WritableStream & { readonly fd?: number };
}

type Observed = Pick<RunningService, 'checks' | 'signs'>;

const checkLimitMs = 2_000;

/** Starts a service: settings, servers, Nest, stages, calls, health. Throws what its operator can put right. */
export async function startService(definition: ServiceDefinition, options: StartOptions = {}): Promise<RunningService> {
  checkStages(definition, definition.stages);
  const { environment = process.env, output } = options;
  const shared =
    options.shared ??
    (await openSharedResources({
      definitions: [definition],
      environment,
      processName: definition.name,
      ...(options.bootLimitMs === undefined ? {} : { bootLimitMs: options.bootLimitMs }),
      ...(output === undefined ? {} : { output }),
    }));
  const closers: (() => Promise<unknown>)[] = options.shared === undefined ? [() => shared.close()] : [];
  const close = async (): Promise<void> => {
    // What cannot be closed does not keep the rest open.
    for (const closer of closers.splice(0).toReversed())
      await closer().catch((error: unknown) => shared.logger.warn({ event: 'close_failed', reason: String(error) }));
  };
  try {
    const running = await startWithin(definition, shared, closers);
    if (options.shared !== undefined) return { ...running, close };
    const health = await serveHealth(shared, definition, running);
    closers.push(() => health.close());
    shared.logger.info({ event: 'service_ready', port: health.port });
    return { port: health.port, ...running, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function serveHealth(
  shared: SharedResources,
  { name }: ServiceDefinition,
  { checks, signs }: Observed,
): Promise<HealthServer> {
  const { healthHost, healthPort } = shared.settingsOf(name);
  return startHealthServer({ host: healthHost, port: healthPort, pid: process.pid, checks, signs });
}

async function startWithin(
  definition: ServiceDefinition,
  shared: SharedResources,
  closers: (() => Promise<unknown>)[],
): Promise<Observed> {
  const stopping = new AbortController();
  const resources = describeResources(definition, shared, stopping.signal);
  const intake = new WorkIntake(definition, resources, shared.monotonicMs);
  const module = await definition.module(resources);
  const app = await NestFactory.createMicroservice(module, {
    strategy: new StageTransport(intake),
    logger: createNestLogger(resources.logger),
    abortOnError: false,
  });
  closers.push(async () => {
    stopping.abort(new FlotillaError(errors.shuttingDown));
    resources.logger.info({ event: 'service_stopping' });
    await app.close();
  });
  await app.init();
  intake.bind(providerOf(app));
  await app.listen();
  // Who asks as soon as the service has started is heard: the broker knows its subscriptions. Where it went away, they come with it.
  await resources.broker.nc.flush().catch(() => undefined);
  const own = Object.entries(definition.checks?.(providerOf(app)) ?? {});
  const checks: ReadinessChecks = async () => {
    const asked = await Promise.all(
      [
        ...own,
        ['nats', () => resources.broker.nc.rtt().then(() => resources.broker.connected)] as const,
        ['postgres', () => resources.store.query('select 1').then(() => true)] as const,
      ].map(
        async ([name, check]) =>
          [
            name,
            await holdsWithin(checkLimitMs, async () => {
              if (!(await check())) throw new Error(`${name} does not answer as it should`);
            }),
          ] as const,
      ),
    );
    return { started: !stopping.signal.aborted, stages: intake.pulls, ...Object.fromEntries(asked) };
  };
  return { checks, signs: () => ({ stages: intake.silentMs(), outbox: shared.relay.silentMs() }) };
}

function describeResources({ name }: ServiceDefinition, shared: SharedResources, signal: AbortSignal): Resources {
  const broker = shared.brokerOf(name);
  const metrics = createMetrics(name);
  metrics.observeOutbox(() => shared.relay.lag());
  return {
    service: name,
    instance: shared.instance,
    settings: shared.settingsOf(name),
    store: shared.store,
    broker,
    objects: { changes: createLazyBucket(broker, 'changes'), spills: createLazyBucket(broker, 'spills') },
    logger: shared.loggerOf(name),
    tracer: trace.getTracer(name),
    metrics,
    clock: shared.clock,
    ids: shared.ids,
    redact: shared.redact,
    signal,
  };
}

function providerOf(app: INestMicroservice): GetProvider {
  return (token) => app.get(token, { strict: false });
}
