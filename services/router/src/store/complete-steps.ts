import type { GateId, TraceContext } from '@flotilla/contracts/ids';
import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { Transaction } from '@flotilla/store/transaction';
import { Slip } from '@flotilla/workflow/slip';
import { advanceRun } from '../domain/advance-run.ts';
import type { Advance, Decision } from '../domain/decision.ts';
import { RunState } from '../domain/run-state.ts';
import { contractOf } from './move-run.ts';
import { runColumns } from './run-columns.ts';

export interface CompletionToTake {
  readonly completion: StepCompleted;
  readonly inbox: { readonly messageId: string; readonly stage: string };
  readonly trace: TraceContext | undefined;
}

export interface CompleteOptions {
  readonly now: Date;
  readonly newGateId: () => GateId;
}

/**
 * Takes the outcomes of steps of different runs in one transaction, a statement for each kind of row. Undefined, and nothing done,
 * where more than the run moves: a gate, a turn, or a run that may take one.
 */
export async function completeSteps(
  transaction: Transaction,
  taken: readonly CompletionToTake[],
  options: CompleteOptions,
): Promise<readonly (Decision | undefined)[]> {
  const rows = await transaction.query<{ id: string; facts: unknown; slip: unknown }>(
    'select id, facts, slip from router.run where id = any($1::text[]) order by id for update',
    [taken.map(({ completion }) => completion.runId)],
  );
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const decided = taken.map((each) => {
    const row = rowOf.get(each.completion.runId);
    return { ...each, decision: row === undefined ? undefined : decide(row, each.completion, options) };
  });
  const moved = decided.flatMap(({ decision, inbox, trace }) =>
    decision?.kind === 'advanced' ? [{ advance: decision, inbox, trace }] : [],
  );
  await writeRuns(
    transaction,
    moved.map(({ advance }) => advance),
  );
  await transaction.completeInboxes(decided.flatMap(({ decision, inbox }) => (decision === undefined ? [] : [inbox])));
  for (const { advance, inbox, trace } of moved) {
    const about = { cause: inbox.messageId, ...(trace === undefined ? {} : { trace }) };
    for (const request of advance.requests) await transaction.publish(contractOf(request), request, about);
  }
  await transaction.appendLogs(
    moved.map(({ advance, trace }) => ({ runId: advance.run.runId, entries: advance.entries, trace })),
  );
  return decided.map(({ decision }) => decision);
}

function decide(
  row: { readonly facts: unknown; readonly slip: unknown },
  completion: StepCompleted,
  { now, newGateId }: CompleteOptions,
): Decision | undefined {
  if (row.facts === null) return { kind: 'ignored', reason: 'ended' };
  const run = RunState.parse(row.facts);
  if (run.known.approval !== undefined) return undefined;
  const event = { kind: 'stepCompleted', completion } as const;
  const slip = Slip.parse(row.slip);
  const decision = advanceRun({ run, slip, event, turn: { kind: 'free' }, now, gateId: newGateId() });
  const plain = decision.kind === 'ignored' || (decision.lane === 'keep' && decision.gates.length === 0);
  return plain ? decision : undefined;
}

async function writeRuns(transaction: Transaction, advances: readonly Advance[]): Promise<void> {
  if (advances.length === 0) return;
  const rows = advances.map(({ run, ended, requests }) => {
    const { facts: _, ...columns } = runColumns(run, ended);
    const named = Object.entries(columns).map(([name, value]) => [columnOf(name), value] as const);
    return { ...Object.fromEntries(named), id: run.runId, ...(requests.length > 0 ? { requests: 0 } : {}) };
  });
  // The facts may hold U+0000, which is kept in a json column but not inside a larger document that Postgres takes apart.
  await transaction.query(
    `update router.run as run
        set state = given.state, step_id = given.step_id, attempt = given.attempt, gate_id = given.gate_id, lane = given.lane,
            waiting_since = given.waiting_since, requested_at = given.requested_at, deadline_at = given.deadline_at,
            result = given.result, commit = given.commit, branch = given.branch, code = given.code, message = given.message,
            advice = given.advice, spent = given.spent, ended_at = given.ended_at,
            requests = coalesce(given.requests, run.requests), facts = whole.facts::json
       from json_populate_recordset(null::router.run, $1::json) as given
       join unnest($2::text[], $3::text[]) as whole (id, facts) using (id)
      where run.id = given.id`,
    [JSON.stringify(rows), advances.map(({ run }) => run.runId), advances.map(({ run }) => JSON.stringify(run))],
  );
}

function columnOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
