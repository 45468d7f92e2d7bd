import { stepRequests } from '@flotilla/contracts/catalogue';
import type { MessageContract } from '@flotilla/contracts/define-message';
import type { GateId, RunId, TraceContext } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { acquireLease, releaseLease, stepLeaseKey } from '@flotilla/store/lease';
import type { Transaction } from '@flotilla/store/transaction';
import { Slip } from '@flotilla/workflow/slip';
import { LockMode } from '@mikro-orm/postgresql';
import { advanceRun } from '../domain/advance-run.ts';
import type { Advance, Decision, GateChange, RunEvent, StepRequest, Turn } from '../domain/decision.ts';
import { laneOf, RunState } from '../domain/run-state.ts';
import { GateEntity, RunEntity, type RunRow } from './entities.ts';
import { runColumns, textColumn } from './run-columns.ts';

/** Longer than a transaction, which gives the claim back itself. */
const CLAIM_MS = 60_000;

/** A run that this transaction alone may move, until it ends. */
export interface LockedRun {
  readonly row: RunRow;
  readonly run: RunState;
  readonly slip: Slip;
}

export interface MoveOptions {
  readonly now: Date;
  readonly newGateId: () => GateId;
  /** Given where the active trace is not the run's own. Default: the active trace. */
  readonly trace?: TraceContext;
}

/** Waits for others that move the run. Throws RUN_UNKNOWN, RUN_ARCHIVED. */
export async function lockRun(transaction: Transaction, runId: RunId): Promise<LockedRun> {
  const row = await transaction.em.findOne(RunEntity, { id: runId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (row === null) throw new FlotillaError(errors.runUnknown, { runId });
  if (row.archivedAt != null) throw new FlotillaError(errors.runArchived, { runId });
  return { row, run: RunState.parse(row.facts), slip: Slip.parse(row.slip) };
}

/** Reads the facts, decides, and writes what was decided. The last thing a transaction does. */
export async function moveRun(
  transaction: Transaction,
  locked: LockedRun,
  event: RunEvent,
  options: MoveOptions,
): Promise<Decision> {
  const { run, slip } = locked;
  const turn = await readTurn(transaction, run, event);
  const facts = { run, slip, turn, now: options.now, gateId: options.newGateId() };
  const decision = advanceRun({ ...facts, event });
  if (decision.kind === 'ignored') return decision;
  if (!('atWork' in event) || decision.ended === undefined || (await isIdle(transaction, run))) {
    await writeAdvance(transaction, locked, decision, options);
    return decision;
  }
  const atWork = advanceRun({ ...facts, event: { ...event, atWork: true } });
  if (atWork.kind === 'advanced') await writeAdvance(transaction, locked, atWork, options);
  return atWork;
}

/**
 * Whether nobody works on the present step. The claim makes a worker that wants the lease wait for this transaction: it begins
 * after the commit, when the log tells it that the run has ended.
 */
async function isIdle(transaction: Transaction, { runId, position }: RunState): Promise<boolean> {
  if (position?.kind !== 'step') return true;
  const { stepId, attempt } = position;
  const lease = await acquireLease(transaction, stepLeaseKey({ runId, stepId, attempt }), 'router', CLAIM_MS);
  if (lease !== undefined) await releaseLease(transaction, lease);
  return lease !== undefined;
}

/** Whose turn it is on the lane. Locked until the commit, since it may be taken; read only where landing may follow. */
async function readTurn(transaction: Transaction, run: RunState, event: RunEvent): Promise<Turn> {
  const lane = laneOf(run);
  const mayLand = event.kind === 'turnGranted' || event.kind === 'gateDecided' || run.known.approval !== undefined;
  if (lane === undefined || !mayLand) return { kind: 'free' };
  await transaction.query('insert into router.lane (key) values ($1) on conflict (key) do nothing', [lane]);
  const [row] = await transaction.query<{ run_id: string | null }>(
    'select run_id from router.lane where key = $1 for update',
    [lane],
  );
  const holder = row?.run_id ?? null;
  return holder === null || holder === run.runId ? { kind: 'free' } : { kind: 'behind', runId: holder };
}

/** Writes a decision: the run, its gate and turn, the messages, and last the log, which other writers wait for. */
export async function writeAdvance(
  transaction: Transaction,
  { row }: Pick<LockedRun, 'row'>,
  advance: Advance,
  options: MoveOptions,
): Promise<void> {
  const { run, entries, requests, gates, lane, ended } = advance;
  const asked = requests.length > 0 ? { requests: 0 } : {};
  transaction.em.assign(row, { ...runColumns(run, ended), ...asked });
  for (const gate of gates) await writeGate(transaction, run.runId, gate, options.now);
  await transaction.em.flush();
  await writeTurn(transaction, run, lane, options.now);
  const trace = options.trace === undefined ? {} : { trace: options.trace };
  for (const request of requests) await transaction.publish(contractOf(request), request, trace);
  await transaction.appendLog(run.runId, entries, trace);
}

async function writeGate({ em }: Transaction, runId: RunId, gate: GateChange, now: Date): Promise<void> {
  switch (gate.kind) {
    case 'open': {
      const { gateId: id, stepId, question, change } = gate;
      em.create(
        GateEntity,
        {
          id,
          runId,
          stepId,
          question: textColumn(question),
          commit: change.commit,
          change,
          state: 'open',
          openedAt: now,
        },
        { persist: true },
      );
      return;
    }
    case 'decided': {
      const { gateId, decision, by, comment } = gate.payload;
      const row = await em.findOneOrFail(GateEntity, { id: gateId });
      em.assign(row, { state: 'decided', decidedAt: now, decision, decidedBy: by, comment: textColumn(comment) });
      return;
    }
    case 'withdrawn':
      em.assign(await em.findOneOrFail(GateEntity, { id: gate.gateId }), { state: 'withdrawn' });
  }
}

async function writeTurn(transaction: Transaction, run: RunState, change: Advance['lane'], now: Date): Promise<void> {
  const lane = laneOf(run);
  if (change === 'keep' || lane === undefined) return;
  if (change === 'release') {
    await transaction.query('update router.lane set run_id = null, taken_at = null where key = $1 and run_id = $2', [
      lane,
      run.runId,
    ]);
    return;
  }
  const taken = await transaction.query(
    'update router.lane set run_id = $2, taken_at = $3 where key = $1 and (run_id is null or run_id = $2) returning 1',
    [lane, run.runId, now],
  );
  if (taken.length === 0)
    throw new FlotillaError(errors.storeContended, { reason: `the turn on ${lane} was taken meanwhile` });
}

export function contractOf({ verb }: StepRequest): MessageContract {
  // A request carries the verb of its own contract, which the compiler cannot correlate.
  return stepRequests[verb] as unknown as MessageContract;
}

/** The one trace of a run: what began it. */
export async function readTrace(
  transaction: Pick<Transaction, 'query'>,
  runId: RunId,
): Promise<TraceContext | undefined> {
  const [row] = await transaction.query<{ traceparent: string | null; tracestate: string | null }>(
    'select traceparent, tracestate from flow.log where run = $1 and sequence = 1',
    [runId],
  );
  if (row?.traceparent == null) return undefined;
  return { traceparent: row.traceparent, ...(row.tracestate === null ? {} : { tracestate: row.tracestate }) };
}
