import { nothingSpent } from '@flotilla/contracts/allowance';
import type { Mode } from '@flotilla/contracts/grants';
import type { Principal, RunId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { Task } from '@flotilla/contracts/messages/task-submitted';
import type { Project } from '@flotilla/contracts/project';
import { effectiveMode } from '@flotilla/policy/effective-mode';
import type { Slip } from '@flotilla/workflow/slip';
import type { RunState } from './run-state.ts';

export interface TaskFacts {
  readonly task: Task;
  readonly project: Project;
  readonly slip: Slip;
  readonly runId: RunId;
  readonly principal: Principal;
  readonly through: 'queue' | 'command' | 'retry';
  readonly retryOf?: RunId;
  /** The mode that this installation's runs have unless less is asked for. */
  readonly sessionMode: Mode;
  readonly now: Date;
}

/** The run that a task becomes, before its first step, and the first entry of its log. */
export function acceptTask(facts: TaskFacts): { readonly run: RunState; readonly entry: NewLogEntry } {
  const { task, project, slip, runId, principal, through, retryOf, sessionMode, now } = facts;
  const mode = effectiveMode(sessionMode, task.mode, slip.mode);
  const optional = {
    ...(task.externalKey === undefined ? {} : { externalKey: task.externalKey }),
    ...(retryOf === undefined ? {} : { retryOf }),
  };
  const { goal } = task;
  return {
    run: {
      runId,
      goal,
      project,
      ...(task.branch === undefined ? {} : { wantedBranch: task.branch }),
      setup: task.setup ?? true,
      mode,
      principal,
      ...optional,
      acceptedAt: now.toISOString(),
      deadline: new Date(now.getTime() + slip.budget.seconds * 1000).toISOString(),
      visits: {},
      spent: nothingSpent,
      holdsTurn: false,
      known: { setupKey: null, feedback: [], parked: false, evidence: [] },
    },
    entry: {
      type: 'task.accepted',
      payload: {
        goal,
        project: project.name,
        topology: slip.topology,
        mode,
        principal,
        through,
        ...optional,
        budget: slip.budget,
      },
    },
  };
}

/** The task of a run as it can be asked for again. */
export function taskOfRun(run: RunState, topology: Slip['topology']): Task {
  return {
    goal: run.goal,
    project: run.project.name,
    topology,
    ...(run.wantedBranch === undefined ? {} : { branch: run.wantedBranch }),
    mode: run.mode,
    setup: run.setup,
  };
}
