import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { INestMicroservice } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { serveCalls } from '@flotilla/stream/calls';
import { publishLive, subscribeEvents } from '@flotilla/stream/live';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { toNatsHeaders } from '@flotilla/stream/publish-message';
import type { Handler, Stage } from '@flotilla/stream/stage';
import { StageRunner } from '@flotilla/stream/stage-runner';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { buryMessage } from './bury-message.ts';
import { checkCalls, checkStages } from './check-service.ts';
import { observeCalls, observeDeliveries } from './delivery-observer.ts';
import { type HealthServer, holdsWithin, type ReadinessChecks, startHealthServer } from './health-server.ts';
import { createLazyBucket } from './lazy-bucket.ts';
import { createMetrics } from './metrics.ts';
import { createNestLogger } from './nest-logger.ts';
import type { Environment } from './read-settings.ts';
import type { GetProvider, Resources, ServiceDefinition } from './service-definition.ts';
import { openSharedResources, type SharedResources } from './shared-resources.ts';
import { StageTransport } from './stage-transport.ts';
import { StepHandler } from './step-handler.ts';
import { isStepStage } from './step-stage.ts';
import { StoreGuard } from './store-guard.ts';
import { waitOut } from './wait-out.ts';
import type { StepWork } from './step-work.ts';
import type { StepRequest } from './step-request.ts';

export interface RunningService {
  /** Port of /health and /ready; absent where the process serves them for several services. */
  readonly port?: number;
  readonly checks: ReadinessChecks;
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

/** Handlers end by themselves within the first time, and are asked to within the second; ten seconds are what supervisors grant. */
const stopWithin = { finishMs: 4_000, abortMs: 4_000 };
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
    for (const closer of closers.splice(0).toReversed()) await closer();
  };
  try {
    const running = await startWithin(definition, shared, closers);
    if (options.shared !== undefined) return { checks: running.checks, close };
    const health = await serveHealth(shared, definition, running.checks);
    closers.push(() => health.close());
    shared.logger.info({ event: 'service_ready', port: health.port });
    return { port: health.port, checks: running.checks, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function serveHealth(
  shared: SharedResources,
  { name }: ServiceDefinition,
  checks: ReadinessChecks,
): Promise<HealthServer> {
  const { healthHost, healthPort } = shared.settingsOf(name);
  return startHealthServer({ host: healthHost, port: healthPort, checks });
}

async function startWithin(
  definition: ServiceDefinition,
  shared: SharedResources,
  closers: (() => Promise<unknown>)[],
): Promise<{ readonly checks: ReadinessChecks }> {
  const stopping = new AbortController();
  const resources = describeResources(definition, shared, stopping.signal);
  const taking = new Taking(definition, resources, shared);
  const module = await definition.module(resources);
  const app = await NestFactory.createMicroservice(module, {
    strategy: new StageTransport(taking),
    logger: createNestLogger(resources.logger),
    abortOnError: false,
  });
  closers.push(async () => {
    stopping.abort(new FlotillaError(errors.shuttingDown));
    resources.logger.info({ event: 'service_stopping' });
    await app.close();
  });
  await app.init();
  taking.bind(app);
  await app.listen();
  const own = Object.entries(definition.checks?.(providerOf(app)) ?? {});
  const checks: ReadinessChecks = async () => {
    const asked = await Promise.all(
      [...own, ['postgres', () => resources.store.query('select 1').then(() => true)] as const].map(
        async ([name, check]) =>
          [
            name,
            await holdsWithin(checkLimitMs, async () => void ((await check()) || Promise.reject(new Error(name)))),
          ] as const,
      ),
    );
    return { started: !stopping.signal.aborted, nats: resources.broker.connected, ...Object.fromEntries(asked) };
  };
  return { checks };
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
    logger: shared.logger.child({ service: name }),
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

/** The stages and calls of a service while it takes any. */
class Taking {
  readonly #definition: ServiceDefinition;
  readonly #resources: Resources;
  readonly #shared: SharedResources;
  readonly #runners: StageRunner[] = [];
  #stopCalls: () => Promise<void> = () => Promise.resolve();
  #get: GetProvider | undefined;

  constructor(definition: ServiceDefinition, resources: Resources, shared: SharedResources) {
    this.#definition = definition;
    this.#resources = resources;
    this.#shared = shared;
  }

  /** Finds every handler. Throws STAGE_HANDLER_MISSING with the file to edit. */
  bind(app: INestMicroservice): void {
    const get = providerOf(app);
    this.#get = get;
    for (const stage of this.#definition.stages)
      this.#runners.push(this.#createRunner(stage, this.#findHandler(stage, get)));
  }

  async start(): Promise<void> {
    const { broker, logger, metrics, service } = this.#resources;
    const get = this.#get;
    if (get === undefined) throw new Error('the stages are started before they are bound');
    const waiting = {
      limitMs: 120_000,
      signal: this.#resources.signal,
      monotonicMs: this.#shared.monotonicMs,
      onWait: ({ code, message }: FlotillaError) => logger.warn({ event: 'waiting_to_start', code, reason: message }),
    };
    for (const runner of this.#runners) await waitOut(() => runner.start(), waiting);
    const calls = this.#definition.calls?.(get, this.#resources) ?? [];
    checkCalls(this.#definition, calls);
    this.#stopCalls = serveCalls(broker, service, calls, { observer: observeCalls({ service, logger, metrics }) });
  }

  async stop(): Promise<void> {
    await this.#stopCalls();
    await Promise.all(this.#runners.map((runner) => runner.stop(stopWithin)));
  }

  #findHandler(stage: Stage, get: GetProvider): unknown {
    try {
      return get(stage.handler);
    } catch (error) {
      const details = { service: this.#definition.name, handler: stage.handler.name, message: stage.contract.name };
      throw new FlotillaError(errors.stageHandlerMissing, details, { cause: error });
    }
  }

  #createRunner(stage: Stage, provided: unknown): StageRunner {
    const { broker, store, logger, metrics, service, instance, clock } = this.#resources;
    const answer = (subject: string, payload: string, headers: Readonly<Record<string, string>>): void =>
      broker.nc.publish(subject, payload, { headers: toNatsHeaders(headers) });
    return new StageRunner({
      broker,
      service,
      stage,
      // What a stage names is a handler of its message, or a StepWork where it is a step: `stage` and `stepStage` take nothing else.
      handler: isStepStage(stage) ? this.#wrapStep(provided as StepWork<StepRequest>) : (provided as Handler<never>),
      guard: new StoreGuard({ store, instance, bury: (burial) => buryMessage({ store, answer }, burial) }),
      observer: observeDeliveries({ service, logger, metrics }),
      clock,
      ...(service === 'router' ? { prepare: () => provisionStreams(broker) } : {}),
    });
  }

  #wrapStep(work: StepWork<StepRequest>): Handler<never> {
    const { broker, store, service, instance, clock, metrics } = this.#resources;
    const ports = {
      store,
      service,
      instance,
      clock,
      monotonicMs: this.#shared.monotonicMs,
      metrics,
      live: (runId: string, text: string) => publishLive(broker, runId, text),
      onLogGrew: (runId: string, listener: () => void) => subscribeEvents(broker, runId, listener),
    };
    return new StepHandler(ports, work) as Handler<never>; // it gets what the stage's own contract parsed
  }
}
