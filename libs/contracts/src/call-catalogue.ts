import type { CallContract } from './define-call.ts';
import { AddProject } from './calls/add-project.ts';
import { ArchiveRuns } from './calls/archive-runs.ts';
import { CancelRun } from './calls/cancel-run.ts';
import { DecideGate } from './calls/decide-gate.ts';
import { InspectRemote } from './calls/inspect-remote.ts';
import { ListDead } from './calls/list-dead.ts';
import { ListEvents } from './calls/list-events.ts';
import { ListGates } from './calls/list-gates.ts';
import { ListProjects } from './calls/list-projects.ts';
import { ListRuns } from './calls/list-runs.ts';
import { RemoveProject } from './calls/remove-project.ts';
import { ReplayDead } from './calls/replay-dead.ts';
import { RetryRun } from './calls/retry-run.ts';
import { SalvageRun } from './calls/salvage-run.ts';
import { ShowDead } from './calls/show-dead.ts';
import { ShowDiff } from './calls/show-diff.ts';
import { ShowGate } from './calls/show-gate.ts';
import { ShowOutput } from './calls/show-output.ts';
import { ShowProject } from './calls/show-project.ts';
import { ShowRun } from './calls/show-run.ts';
import { SubmitTask } from './calls/submit-task.ts';
import { WatchRun } from './calls/watch-run.ts';

/** Every call by name; the fleet's whole face towards clients. */
export const calls = {
  submitTask: SubmitTask,
  listRuns: ListRuns,
  showRun: ShowRun,
  watchRun: WatchRun,
  listEvents: ListEvents,
  showDiff: ShowDiff,
  showOutput: ShowOutput,
  salvageRun: SalvageRun,
  cancelRun: CancelRun,
  retryRun: RetryRun,
  listGates: ListGates,
  showGate: ShowGate,
  decideGate: DecideGate,
  addProject: AddProject,
  listProjects: ListProjects,
  showProject: ShowProject,
  removeProject: RemoveProject,
  inspectRemote: InspectRemote,
  listDead: ListDead,
  showDead: ShowDead,
  replayDead: ReplayDead,
  archiveRuns: ArchiveRuns,
} as const;
export type CallName = keyof typeof calls;

/** The same as a list; the request types differ, and a list can only be read through what they share. */
export const callCatalogue = Object.values(calls) as unknown as readonly CallContract[];
