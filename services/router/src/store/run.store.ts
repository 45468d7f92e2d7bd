import type { Mode } from '@flotilla/contracts/grants';
import type { RunState as PublishedState } from '@flotilla/contracts/calls/shapes';
import { RunId, type GateId, type Principal } from '@flotilla/contracts/ids';
import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { Task } from '@flotilla/contracts/messages/task-submitted';
import type { Outcome } from '@flotilla/contracts/outcome';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Store } from '@flotilla/store/store';
import type { Transaction } from '@flotilla/store/transaction';
import type { Slip } from '@flotilla/workflow/slip';
import { acceptTask, taskOfRun } from '../domain/accept-task.ts';
import { advanceRun } from '../domain/advance-run.ts';
import type { Decision, RunEvent } from '../domain/decision.ts';
import { GateFacts, whyDecisionRefused, type WantedDecision } from '../domain/judge-gate.ts';
import { whyRetryRefused } from '../domain/judge-retry.ts';
import { laneOf, type RunState } from '../domain/run-state.ts';
import { GateEntity, ProjectEntity, RunEntity, type GateRow } from './entities.ts';
import { fingerprintTask } from './fingerprint-task.ts';
import { lockRun, moveRun, readTrace, writeAdvance, type MoveOptions } from './move-run.ts';
import { publishedState, runColumns, textColumn } from './run-columns.ts';

export interface RunStorePorts {
  readonly store: Store;
  readonly clock: () => Date;
  readonly newRunId: () => RunId;
  readonly newGateId: () => GateId;
  /** Every topology that runs may follow. */
  readonly slips: ReadonlyMap<string, Slip>;
  /** The freest mode of this installation. */
  readonly freestMode: Mode;
}

export interface Submission {
  readonly task: Task;
  readonly principal: Principal;
  readonly through: 'queue' | 'command';
  /** Names the occasion on the queue: the same one gives the same run. */
  readonly intakeId?: string;
}

export interface Submitted {
  readonly runId: RunId;
  readonly created: boolean;
}

export interface Inbox {
  readonly messageId: string;
  readonly stage: string;
}

/** Everything that happens to runs: each method is one transaction, and all but `accept` and `retry` move one run by one event. */
export class RunStore {
  readonly #ports: RunStorePorts;

  constructor(ports: RunStorePorts) {
    this.#ports = ports;
  }

  /** Throws PROJECT_UNKNOWN, TOPOLOGY_UNKNOWN, EXTERNAL_KEY_REUSED. Safe to repeat with an external key or an intake id. */
  accept(submission: Submission): Promise<Submitted> {
    const { task, principal, through, intakeId } = submission;
    return this.#ports.store.transaction(async (transaction) => {
      const known = await this.#findAccepted(transaction, submission);
      if (known !== undefined) return known;
      const project = await transaction.em.findOne(ProjectEntity, { name: task.project });
      if (project === null) throw new FlotillaError(errors.projectUnknown, { project: task.project });
      const slip = this.#slipOf(task.topology ?? project.definition.topology);
      const facts = { task, project: project.definition, slip, principal, through };
      const runId = await this.#begin(transaction, facts, {
        fingerprint: fingerprintTask(task),
        retries: 0,
        ...(intakeId === undefined ? {} : { intakeId }),
      });
      return { runId, created: true };
    });
  }

  /** The task of an ended run as a new run. Throws RUN_UNKNOWN, RUN_NOT_ENDED, RUN_LANDED, RETRIES_EXHAUSTED. Asked twice, it gives the same run. */
  retry(runId: RunId, principal: Principal): Promise<Submitted> {
    return this.#ports.store.transaction(async (transaction) => {
      const { row, run, slip } = await lockRun(transaction, runId);
      const retried = await transaction.em.findOne(RunEntity, { retryOf: runId });
      if (retried !== null) return { runId: RunId.parse(retried.id), created: false };
      const refusal = whyRetryRefused(run, row.retries);
      if (refusal !== undefined) throw refusal;
      const task = taskOfRun(run, slip.topology);
      const facts = { task, project: run.project, slip, principal, through: 'retry', retryOf: runId } as const;
      return {
        runId: await this.#begin(transaction, facts, { fingerprint: fingerprintTask(task), retries: row.retries + 1 }),
        created: true,
      };
    });
  }

  /** Takes the outcome of a step. Of a step, attempt or run that is over it is dropped; the delivery counts as handled either way. */
  async completeStep(completion: StepCompleted, inbox?: Inbox): Promise<Decision> {
    try {
      return await this.#completeOnce(completion, inbox);
    } catch (error) {
      // What the next step would be asked with does not fit a message: another try would not make it smaller.
      if (!(error instanceof FlotillaError) || !error.is(errors.messageTooLarge)) throw error;
      const { code, message, advice } = error;
      const outcome: Outcome = { kind: 'failed', code, message, advice };
      return this.#completeOnce({ ...completion, outcome }, inbox);
    }
  }

  #completeOnce(completion: StepCompleted, inbox: Inbox | undefined): Promise<Decision> {
    return this.#move(completion.runId, { kind: 'stepCompleted', completion }, inbox);
  }

  /** Throws GATE_UNKNOWN, GATE_DECIDED, GATE_WITHDRAWN, GATE_COMMIT_DIFFERS, GATE_COMMENT_MISSING. */
  async decideGate(
    wanted: WantedDecision,
    by: Principal,
  ): Promise<{ readonly runId: RunId; readonly decision: Decision }> {
    const moved = await this.#ports.store.transaction(async (transaction) => {
      const found = await transaction.em.findOne(GateEntity, { id: wanted.gateId });
      if (found === null) throw new FlotillaError(errors.gateUnknown, { gateId: wanted.gateId });
      const locked = await lockRun(transaction, RunId.parse(found.runId));
      // Others decide under the lock of the run, so what was read before it may be over.
      await transaction.em.refresh(found);
      const refusal = whyDecisionRefused(gateFacts(found), wanted);
      if (refusal !== undefined) throw refusal;
      const options = await this.#options(transaction, locked.run.runId, 'own');
      const decision = await moveRun(transaction, locked, { kind: 'gateDecided', ...wanted, by }, options);
      if (decision.kind === 'ignored')
        throw new FlotillaError(errors.gateWithdrawn, { gateId: wanted.gateId, runId: locked.run.runId });
      return { runId: locked.run.runId, decision };
    });
    await this.#passTurnOn(moved.decision);
    return moved;
  }

  /** Throws RUN_UNKNOWN, RUN_ENDED. Asking again changes nothing. */
  async cancel(runId: RunId, by: Principal, reason?: string): Promise<PublishedState> {
    const event: RunEvent = { kind: 'cancelRequested', by, atWork: false, ...(reason === undefined ? {} : { reason }) };
    const decision = await this.#move(runId, event, undefined, 'own');
    if (decision.kind === 'advanced') return publishedState(decision.run);
    if (decision.reason === 'at_work') return 'cancelling';
    const [row] = await this.#ports.store.query<{ result: string }>('select result from router.run where id = $1', [
      runId,
    ]);
    throw new FlotillaError(errors.runEnded, { runId, result: row?.result });
  }

  /** Ends a cancelled run whose step nobody works on any more. */
  endCancelled(runId: RunId): Promise<Decision> {
    return this.#move(
      runId,
      ({ cancel, principal }) => ({ kind: 'cancelRequested', by: cancel?.by ?? principal, atWork: false }),
      undefined,
      'own',
    );
  }

  /** Ends a run whose time is over, unless somebody works on its step. */
  passDeadline(runId: RunId): Promise<Decision> {
    return this.#move(runId, { kind: 'deadlinePassed', atWork: false }, undefined, 'own');
  }

  /** Gives the turn on a lane to the run that waits longest; nothing where none waits or another router does it. */
  async grantTurn(lane: string): Promise<Decision | undefined> {
    return this.#ports.store.transaction(async (transaction) => {
      const [next] = await transaction.query<{ id: string }>(
        `select id from router.run where lane = $1 and state = 'awaiting_turn'
          order by waiting_since, id limit 1 for update skip locked`,
        [lane],
      );
      if (next === undefined) return undefined;
      const locked = await lockRun(transaction, RunId.parse(next.id));
      return moveRun(
        transaction,
        locked,
        { kind: 'turnGranted' },
        await this.#options(transaction, locked.run.runId, 'own'),
      );
    });
  }

  async #move(
    runId: RunId,
    event: RunEvent | ((run: RunState) => RunEvent),
    inbox?: Inbox,
    trace: 'active' | 'own' = 'active',
  ): Promise<Decision> {
    const decision = await this.#ports.store.transaction(async (transaction) => {
      const locked = await lockRun(transaction, runId);
      const happened = typeof event === 'function' ? event(locked.run) : event;
      const decided = await moveRun(transaction, locked, happened, await this.#options(transaction, runId, trace));
      if (inbox !== undefined) await transaction.completeInbox(inbox.messageId, inbox.stage);
      return decided;
    });
    await this.#passTurnOn(decision);
    return decision;
  }

  /** The sweeper grants it where this process dies here or the store is lost. */
  async #passTurnOn(decision: Decision): Promise<void> {
    const lane = decision.kind === 'advanced' && decision.lane === 'release' ? laneOf(decision.run) : undefined;
    if (lane === undefined) return;
    try {
      await this.grantTurn(lane);
    } catch (error) {
      if (!(error instanceof FlotillaError) || error.remedy !== 'wait') throw error;
    }
  }

  /** A worker's answer comes in the run's trace; a client's request has one of its own. */
  async #options(transaction: Transaction, runId: RunId, trace: 'active' | 'own'): Promise<MoveOptions> {
    const own = trace === 'own' ? await readTrace(transaction, runId) : undefined;
    return { now: this.#ports.clock(), newGateId: this.#ports.newGateId, ...(own === undefined ? {} : { trace: own }) };
  }

  #slipOf(topology: string): Slip {
    const slip = this.#ports.slips.get(topology);
    if (slip === undefined)
      throw new FlotillaError(errors.topologyUnknown, {
        topology,
        topologies: [...this.#ports.slips.keys()].join(', '),
      });
    return slip;
  }

  async #findAccepted(transaction: Transaction, { task, intakeId }: Submission): Promise<Submitted | undefined> {
    const { externalKey, project } = task;
    const keys = [
      ...(externalKey === undefined ? [] : [`key/${project}/${externalKey}`]),
      ...(intakeId === undefined ? [] : [`intake/${intakeId}`]),
    ];
    // Two arrivals of one task wait here for each other; in one order, so that they cannot wait in a circle.
    for (const key of keys.sort())
      await transaction.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]);
    const byKey = externalKey === undefined ? null : await transaction.em.findOne(RunEntity, { project, externalKey });
    const found = byKey ?? (intakeId === undefined ? null : await transaction.em.findOne(RunEntity, { intakeId }));
    if (found === null) return undefined;
    if (found.fingerprint !== fingerprintTask(task))
      throw new FlotillaError(errors.externalKeyReused, { externalKey: externalKey ?? intakeId, runId: found.id });
    return { runId: RunId.parse(found.id), created: false };
  }

  async #begin(
    transaction: Transaction,
    accepted: Omit<Parameters<typeof acceptTask>[0], 'runId' | 'freestMode' | 'now'>,
    origin: { readonly fingerprint: string; readonly retries: number; readonly intakeId?: string },
  ): Promise<RunId> {
    const { newRunId, newGateId, freestMode, clock } = this.#ports;
    const now = clock();
    const runId = newRunId();
    const { run, entry } = acceptTask({ ...accepted, runId, freestMode, now });
    const { slip } = accepted;
    const row = transaction.em.create(
      RunEntity,
      {
        ...runColumns(run),
        id: runId,
        project: run.project.name,
        externalKey: run.externalKey ?? null,
        intakeId: origin.intakeId ?? null,
        fingerprint: origin.fingerprint,
        retryOf: run.retryOf ?? null,
        retries: origin.retries,
        goal: textColumn(run.goal),
        topology: slip.topology,
        mode: run.mode,
        principal: run.principal,
        requests: 0,
        budget: slip.budget,
        slip,
        createdAt: now,
      },
      { persist: true },
    );
    const event: RunEvent = { kind: 'accepted', entry };
    const decision = advanceRun({ run, slip, event, turn: { kind: 'free' }, now, gateId: newGateId() });
    if (decision.kind === 'advanced') await writeAdvance(transaction, { row }, decision, { now, newGateId });
    return runId;
  }
}

function gateFacts({ id: gateId, runId, commit, state, decision, decidedBy }: GateRow): GateFacts {
  return GateFacts.parse({ gateId, runId, commit, state, decision: decision ?? undefined, by: decidedBy ?? undefined });
}
