import { StepStarted } from '@flotilla/contracts/events/step-events';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { HEARTBEAT_MS } from '@flotilla/contracts/streams';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Lease } from '@flotilla/store/lease';
import type { Store } from '@flotilla/store/store';
import type { Delivery, Handler } from '@flotilla/stream/stage';
import { isCancelled, isEnded, watchCancel } from './cancel-watch.ts';
import type { FleetMetrics } from './metrics.ts';
import type { StepRequest } from './step-request.ts';
import type { StepAnswer, StepContext, StepWork } from './step-work.ts';
import { readSpent } from './sum-spent.ts';
import { withSpan } from './trace-context.ts';

export interface StepHandlerPorts {
  readonly store: Store;
  readonly service: string;
  readonly instance: string;
  readonly clock: () => Date;
  readonly monotonicMs: () => number;
  readonly metrics: Pick<FleetMetrics, 'stepEnded'>;
  readonly live: (runId: string, text: string) => void;
  /** Calls the listener when the log of a run grew. Returns how to stop. */
  readonly onLogGrew: (runId: string, listener: () => void) => () => void;
}

const journalLimit = 100_000;
const longestTimerMs = 2 ** 31 - 1;

/** Does everything about a step that is not its work: start, cancel, deadline, journal, and the answer in one transaction. */
export class StepHandler implements Handler<StepRequest> {
  readonly #ports: StepHandlerPorts;
  readonly #work: StepWork<StepRequest>;

  constructor(ports: StepHandlerPorts, work: StepWork<StepRequest>) {
    this.#ports = ports;
    this.#work = work;
  }

  async handle(request: StepRequest, delivery: Delivery): Promise<void> {
    const { lease } = delivery;
    if (lease === undefined) throw new Error(`the stage ${delivery.stage} takes no lease`);
    const startedAt = this.#ports.monotonicMs();
    const answer =
      (await this.#answerWithoutWork(request, delivery, lease)) ?? (await this.#answerTimed(request, delivery, lease));
    await this.#commit(request, delivery, lease, answer);
    const durationMs = this.#ports.monotonicMs() - startedAt;
    this.#ports.metrics.stepEnded({
      verb: request.verb,
      outcome: answer.outcome.kind,
      durationMs,
      spent: answer.spent,
    });
  }

  /**
   * The answer of a step that is given up: what it achieved all the same; undefined where that is nothing. Throws while only time
   * can tell.
   */
  async findEnd(request: StepRequest, lease: Lease, signal: AbortSignal): Promise<StepAnswer | undefined> {
    const { store, clock } = this.#ports;
    if (this.#work.findDone === undefined || (await isEnded(store, request.runId))) return undefined;
    try {
      return await this.#work.findDone(request, this.#createContext(request, { delivery: 1 }, lease, signal));
    } catch (error) {
      if (!(error instanceof FlotillaError)) return undefined;
      if (error.remedy === 'wait' || signal.aborted) throw error;
      if (!error.is(errors.landingUnknown)) return undefined;
      const over = clock().getTime() >= Date.parse(request.deadline) || (await isCancelled(store, request.runId));
      if (!over) throw error;
      const { code, message, advice } = error;
      return { outcome: { kind: 'failed', code, message, advice }, spent: await readSpent(store, request) };
    }
  }

  async #answerWithoutWork(request: StepRequest, delivery: Delivery, lease: Lease): Promise<StepAnswer | undefined> {
    if (await isCancelled(this.#ports.store, request.runId))
      return this.#answerStopped(request, delivery, lease, 'cancelled');
    const late = this.#ports.clock().getTime() >= Date.parse(request.deadline);
    return late ? this.#answerStopped(request, delivery, lease, 'deadline') : undefined;
  }

  /** An answer counts the time of its agent; commands, git and checks take time too. */
  async #answerTimed(request: StepRequest, delivery: Delivery, lease: Lease): Promise<StepAnswer> {
    const startedAt = this.#ports.monotonicMs();
    const answer = await this.#answerByWork(request, delivery, lease);
    const seconds = Math.round(this.#ports.monotonicMs() - startedAt) / 1000;
    return { ...answer, spent: { ...answer.spent, seconds: Math.max(answer.spent.seconds, seconds) } };
  }

  async #answerByWork(request: StepRequest, delivery: Delivery, lease: Lease): Promise<StepAnswer> {
    const { store, service, instance, clock } = this.#ports;
    const stopping = new AbortController();
    let why: 'cancelled' | 'deadline' | undefined;
    const stop = (reason: 'cancelled' | 'deadline', error: FlotillaError): void => {
      why ??= reason;
      stopping.abort(error);
    };
    const signal = AbortSignal.any([delivery.signal, stopping.signal]);
    const context = this.#createContext(request, delivery, lease, signal);
    await context.log({
      type: StepStarted.type,
      payload: { verb: request.verb, service, instance, delivery: delivery.delivery },
    });
    const watch = watchCancel({
      read: () => isCancelled(store, request.runId),
      everyMs: HEARTBEAT_MS,
      onCancelled: () => stop('cancelled', new FlotillaError(errors.runCancelled, { runId: request.runId })),
    });
    const forget = this.#ports.onLogGrew(request.runId, () => watch.wake());
    const leftMs = Math.min(longestTimerMs, Math.max(0, Date.parse(request.deadline) - clock().getTime()));
    const timer = setTimeout(
      () => stop('deadline', new FlotillaError(errors.deadlinePassed, { deadline: request.deadline })),
      leftMs,
    );
    try {
      return await this.#work.work(request, context);
    } catch (error) {
      // The process or the lease going away is the stronger reason: then the step is not over.
      if (why === undefined || delivery.signal.aborted) throw error;
      return await this.#answerStopped(request, delivery, lease, why);
    } finally {
      clearTimeout(timer);
      watch.stop();
      forget();
    }
  }

  /** The answer of a step that was told to stop: what was done all the same, or that it was stopped, with what its journal shows was spent. */
  async #answerStopped(
    request: StepRequest,
    delivery: Delivery,
    lease: Lease,
    why: 'cancelled' | 'deadline',
  ): Promise<StepAnswer> {
    if (this.#work.findDone !== undefined && !(await isEnded(this.#ports.store, request.runId))) {
      const context = this.#createContext(request, delivery, lease, delivery.signal);
      const done = await this.#work.findDone(request, context);
      if (done !== undefined) return done;
    }
    return {
      outcome: why === 'cancelled' ? { kind: 'cancelled' } : { kind: 'limit_reached', limit: 'deadline' },
      spent: await readSpent(this.#ports.store, request),
    };
  }

  async #commit(request: StepRequest, { messageId, stage }: Delivery, lease: Lease, answer: StepAnswer): Promise<void> {
    const { runId, stepId, attempt } = request;
    const { outcome, spent, entries = [] } = answer;
    const completed = { runId, stepId, attempt, outcome, spent };
    if (entries.length === 0) {
      const end = { messageId, stage, lease, contract: StepCompleted, answer: completed };
      return this.#ports.store.grouped.answer(end);
    }
    await this.#ports.store.transaction(async (transaction) => {
      await transaction.requireLease(lease);
      await transaction.completeInbox(messageId, stage);
      await transaction.publish(StepCompleted, completed);
      await transaction.appendLog(runId, entries.map(aboutStep(request)), { lease });
    });
  }

  #createContext(
    request: StepRequest,
    delivery: Pick<Delivery, 'delivery'>,
    lease: Lease,
    signal: AbortSignal,
  ): StepContext {
    const { store, service, instance } = this.#ports;
    const { runId, stepId, attempt } = request;
    return {
      signal,
      instance,
      delivery: delivery.delivery,
      log: async (...entries) => {
        if (entries.length > 0) await store.grouped.journal(runId, entries.map(aboutStep(request)), lease);
      },
      journal: () => store.readLog(runId, { stepId, attempt, limit: journalLimit }),
      previousJournals: async () => {
        const entries = await store.readLog(runId, { stepId, limit: journalLimit });
        return entries.filter((entry) => (entry.attempt ?? attempt) < attempt);
      },
      live: (text) => this.#ports.live(runId, text),
      cancelled: () => isCancelled(store, runId),
      span: (name, attributes, work) => withSpan(service, name, { attributes: { ...attributes } }, work),
    };
  }
}

export function aboutStep({
  stepId,
  attempt,
}: Pick<StepRequest, 'stepId' | 'attempt'>): (entry: NewLogEntry) => NewLogEntry {
  return (entry) => ({ ...entry, stepId, attempt });
}
