import type { PublishedGate, PublishedProject, PublishedRun } from '@flotilla/contracts/calls/published-views';
import type { Gate } from '@flotilla/contracts/calls/gate-view';
import type { ProjectView } from '@flotilla/contracts/calls/project-view';
import type { RunSummary } from '@flotilla/contracts/calls/run-view';
import type { ProposedChange } from '@flotilla/contracts/calls/shapes';
import type { Change } from '@flotilla/contracts/change';
import { spendingOf } from './build-timeline.ts';

/** Rows of the published views as the answers of calls carry them. */

export function describeRun(row: PublishedRun): RunSummary {
  const { code, message, advice, archive: file, archived_at: at } = row;
  return {
    runId: row.run_id,
    project: row.project,
    goal: row.goal,
    topology: row.topology,
    mode: row.mode,
    principal: row.principal,
    state: row.state,
    spent: spendingOf(row.spent),
    createdAt: row.created_at,
    ...withoutNulls({
      stepId: row.step_id,
      result: row.result,
      commit: row.commit,
      gateId: row.gate_id,
      endedAt: row.ended_at,
      failure: code === null ? null : { code, message: message ?? '', advice: advice ?? '' },
      archive: file === null || at === null ? null : { file, at },
    }),
  };
}

export function describeGate(row: PublishedGate): Gate {
  return {
    gateId: row.gate_id,
    runId: row.run_id,
    project: row.project,
    goal: row.goal,
    question: row.question,
    state: row.state,
    change: describeChange(row.change),
    openedAt: row.opened_at,
    ...withoutNulls({
      decidedAt: row.decided_at,
      decision: row.decision,
      by: row.decided_by,
      comment: row.comment,
    }),
  };
}

export function describeOpenGate({ gate_id: gateId, question, change }: PublishedGate) {
  return { gateId, question, change: describeChange(change) };
}

export function describeProject({ definition, created_at }: PublishedProject): ProjectView {
  return { ...definition, createdAt: created_at };
}

function describeChange({ commit, tree, base, files }: Change): ProposedChange {
  return { commit, tree, base, files };
}

type WithoutNulls<Row> = { [Key in keyof Row]?: Exclude<Row[Key], null> };

export function withoutNulls<Row extends Readonly<Record<string, unknown>>>(row: Row): WithoutNulls<Row> {
  // Object.fromEntries forgets its keys; those that are left have their own values.
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as WithoutNulls<Row>;
}
