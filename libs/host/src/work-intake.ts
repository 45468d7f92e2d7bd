import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { serveCalls } from '@flotilla/stream/calls';
import { publishLive, subscribeEvents } from '@flotilla/stream/live';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { toNatsHeaders } from '@flotilla/stream/publish-message';
import type { Burial } from '@flotilla/stream/delivery-guard';
import type { Handler, Stage } from '@flotilla/stream/stage';
import { StageRunner } from '@flotilla/stream/stage-runner';
import { buryMessage } from './bury-message.ts';
import { checkCalls } from './check-service.ts';
import { observeCalls, observeDeliveries } from './delivery-observer.ts';
import type { GetProvider, Resources, ServiceDefinition } from './service-definition.ts';
import type { StagePorts } from './stage-transport.ts';
import { StepHandler } from './step-handler.ts';
import { readStepRequest, type StepRequest } from './step-request.ts';
import { isStepStage } from './step-stage.ts';
import type { StepAnswer, StepWork } from './step-work.ts';
import { StoreGuard } from './store-guard.ts';
import { waitOut } from './wait-out.ts';

/** Handlers end by themselves within the first time, and are asked to within the second; ten seconds are what supervisors grant. */
const stopWithin = { finishMs: 4_000, abortMs: 4_000 };
const startLimitMs = 120_000;

/** The stages and calls of a service, bound to what its module provides. */
export class WorkIntake implements StagePorts {
  readonly #definition: ServiceDefinition;
  readonly #resources: Resources;
  readonly #monotonicMs: () => number;
  readonly #runners: StageRunner[] = [];
  #stopCalls: () => Promise<void> = () => Promise.resolve();
  #get: GetProvider | undefined;

  constructor(definition: ServiceDefinition, resources: Resources, monotonicMs: () => number) {
    this.#definition = definition;
    this.#resources = resources;
    this.#monotonicMs = monotonicMs;
  }

  /** Finds every handler. Throws STAGE_HANDLER_MISSING with the file to edit. */
  bind(get: GetProvider): void {
    this.#get = get;
    for (const stage of this.#definition.stages)
      this.#runners.push(this.#createRunner(stage, this.#findHandler(stage, get)));
  }

  async start(): Promise<void> {
    const { broker, logger, metrics, service } = this.#resources;
    const get = this.#get;
    if (get === undefined) throw new Error('the stages are started before they are bound');
    const waiting = {
      limitMs: startLimitMs,
      signal: this.#resources.signal,
      monotonicMs: this.#monotonicMs,
      onWait: ({ code, message }: FlotillaError) => logger.warn({ event: 'waiting_to_start', code, reason: message }),
    };
    for (const runner of this.#runners) await waitOut(() => runner.start(), waiting);
    const calls = this.#definition.calls?.(get, this.#resources) ?? [];
    checkCalls(this.#definition, calls);
    this.#stopCalls = serveCalls(broker, service, calls, { observer: observeCalls({ service, logger, metrics }) });
  }

  /** Whether every stage gets from the broker what it asks for. */
  get pulls(): boolean {
    return this.#runners.every(({ pulls }) => pulls);
  }

  /** The longest that a stage has not asked for messages although it should have. */
  silentMs(): number {
    return Math.max(0, ...this.#runners.map((runner) => runner.silentMs()));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#stopCalls(), ...this.#runners.map((runner) => runner.stop(stopWithin))]);
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
    // What a stage names is a handler of its message, or a StepWork where it is a step: `stage` and `stepStage` take nothing else.
    const step = isStepStage(stage) ? this.#wrapStep(provided as StepWork<StepRequest>) : undefined;
    const findEnd = async ({ claim }: Burial): Promise<StepAnswer | undefined> => {
      const request = readStepRequest(claim?.arrival.message);
      if (step === undefined || request === undefined || claim?.lease === undefined) return undefined;
      // Parsed by the stage's contract, as its handler gets it.
      return step.findEnd(claim.arrival.message as StepRequest, claim.lease, this.#resources.signal);
    };
    return new StageRunner({
      broker,
      service,
      stage,
      handler: (step ?? provided) as Handler<never>, // it gets what the stage's own contract parsed
      guard: new StoreGuard({ store, instance, bury: (burial) => buryMessage({ store, answer, findEnd }, burial) }),
      observer: observeDeliveries({ service, logger, metrics }),
      clock,
      ...(service === 'router' ? { prepare: () => provisionStreams(broker) } : {}),
    });
  }

  #wrapStep(work: StepWork<StepRequest>): StepHandler {
    const { broker, store, service, instance, clock, metrics } = this.#resources;
    const ports = {
      store,
      service,
      instance,
      clock,
      monotonicMs: this.#monotonicMs,
      metrics,
      live: (runId: string, text: string) => publishLive(broker, runId, text),
      onLogGrew: (runId: string, listener: () => void) => subscribeEvents(broker, runId, listener),
    };
    return new StepHandler(ports, work);
  }
}
