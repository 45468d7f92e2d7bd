import type { RunState as PublishedState } from '@flotilla/contracts/calls/shapes';
import { RunId, type GateId, type Principal } from '@flotilla/contracts/ids';
import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { gather } from '@flotilla/store/gather';
import type { Store } from '@flotilla/store/store';
import type { Transaction } from '@flotilla/store/transaction';
import type { Advance, Decision, RunEvent } from '../domain/decision.ts';
import { GateFacts, whyDecisionRefused, type WantedDecision } from '../domain/judge-gate.ts';
import { laneOf, type RunState } from '../domain/run-state.ts';
import { completeSteps, type CompletionToTake } from './complete-steps.ts';
import { GateEntity, type GateRow } from './entities.ts';
import { lockRun, moveRun, readTrace, type MoveOptions } from './move-run.ts';
import { publishedState } from './run-columns.ts';

export interface RunStorePorts {
  readonly store: Store;
  readonly clock: () => Date;
  readonly newGateId: () => GateId;
  /** Told of each move once it is committed, for logs. */
  readonly tell: (advance: Advance) => void;
}

export interface Inbox {
  readonly messageId: string;
  readonly stage: string;
}

/** Outcomes taken in one transaction at most; the runs of all of them are locked until it ends. */
const completedAtOnce = 64;

/** Everything that happens to a run after its intake: each method moves one run by one event in one transaction. */
export class RunStore {
  readonly #ports: RunStorePorts;
  readonly #complete: (taken: CompletionToTake) => Promise<Decision | undefined>;

  constructor(ports: RunStorePorts) {
    this.#ports = ports;
    const { store, clock, newGateId } = ports;
    this.#complete = gather({
      together: (taken) =>
        store.transaction((transaction) => completeSteps(transaction, taken, { now: clock(), newGateId })),
      keyOf: ({ completion }) => completion.runId,
      limit: completedAtOnce,
    });
  }

  /** Takes the outcome of a step. Of a step, attempt or run that is over it is dropped; the delivery counts as handled either way. */
  async completeStep(completion: StepCompleted, inbox?: Inbox): Promise<Decision> {
    if (inbox !== undefined) {
      const decision = await this.#complete({ completion, inbox, trace: this.#ports.store.traceContext() });
      if (decision !== undefined) {
        await this.#afterCommit(decision);
        return decision;
      }
    }
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
    await this.#afterCommit(moved.decision);
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
    const decision = await this.#ports.store.transaction(async (transaction) => {
      const [next] = await transaction.query<{ id: string }>(
        `select id from router.run where lane = $1 and state = 'awaiting_turn'
          order by waiting_since, id limit 1 for update skip locked`,
        [lane],
      );
      if (next === undefined) return undefined;
      const locked = await lockRun(transaction, RunId.parse(next.id));
      const options = await this.#options(transaction, locked.run.runId, 'own');
      return moveRun(transaction, locked, { kind: 'turnGranted' }, options);
    });
    await this.#afterCommit(decision);
    return decision;
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
    await this.#afterCommit(decision);
    return decision;
  }

  /** Passes the turn on where it was given back; the sweeper does where this process dies here or the store is lost. */
  async #afterCommit(decision: Decision | undefined): Promise<void> {
    if (decision?.kind !== 'advanced') return;
    this.#ports.tell(decision);
    const lane = decision.lane === 'release' ? laneOf(decision.run) : undefined;
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
}

function gateFacts({ id: gateId, runId, commit, state, decision, decidedBy }: GateRow): GateFacts {
  return GateFacts.parse({ gateId, runId, commit, state, decision: decision ?? undefined, by: decidedBy ?? undefined });
}
