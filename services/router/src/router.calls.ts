import { AddProject } from '@flotilla/contracts/calls/add-project';
import { ArchiveRuns } from '@flotilla/contracts/calls/archive-runs';
import type { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import { RemoveProject } from '@flotilla/contracts/calls/remove-project';
import type { RequestInputOf, ResponseOf } from '@flotilla/contracts/define-call';
import { CancelRun } from '@flotilla/contracts/calls/cancel-run';
import { DecideGate } from '@flotilla/contracts/calls/decide-gate';
import { ListDead } from '@flotilla/contracts/calls/list-dead';
import { ReplayDead } from '@flotilla/contracts/calls/replay-dead';
import { RetryRun } from '@flotilla/contracts/calls/retry-run';
import { ShowDead } from '@flotilla/contracts/calls/show-dead';
import { SubmitTask } from '@flotilla/contracts/calls/submit-task';
import { Principal } from '@flotilla/contracts/ids';
import { Task } from '@flotilla/contracts/messages/task-submitted';
import { Project } from '@flotilla/contracts/project';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { serve, type CallContext, type ServedCall } from '@flotilla/stream/calls';
import type { ArchiveRunsCall } from './archive/archive-runs.ts';
import type { DeadLetters } from './dead-letters.ts';
import { whyRemoteRefused } from './domain/judge-remote.ts';
import { needsDetectedTests, type Warning, warn, warnOfRemote } from './domain/warn-of-remote.ts';
import type { ProjectStore } from './store/project.store.ts';
import type { IntakeStore } from './store/intake.store.ts';
import type { RunStore } from './store/run.store.ts';

export interface RouterCalls {
  readonly intake: IntakeStore;
  readonly runs: RunStore;
  readonly projects: ProjectStore;
  readonly deadLetters: DeadLetters;
  readonly archive: Pick<ArchiveRunsCall, 'answer'>;
  /** Topologies that runs may follow. */
  readonly topologies: ReadonlySet<string>;
  /** Asks the merger. Throws what the remote is refused for, CALL_UNANSWERED or CALL_TIMED_OUT. */
  readonly inspectRemote: (
    input: RequestInputOf<typeof InspectRemote>,
    options?: { readonly timeoutMs: number },
  ) => Promise<ResponseOf<typeof InspectRemote>>;
}

/** What clients ask of the router; commands are answered after their commit. */
export function createRouterCalls({
  intake,
  runs,
  projects,
  deadLetters,
  archive,
  topologies,
  inspectRemote,
}: RouterCalls): readonly ServedCall[] {
  return [
    serve(SubmitTask, async (input, context) => {
      const submission = { task: Task.parse(input), principal: principalOf(context), through: 'command' } as const;
      const known = await intake.findAccepted(submission);
      const warnings = known === undefined ? await askForBranch(submission.task, { projects, inspectRemote }) : [];
      return { ...(known ?? (await intake.accept(submission))), warnings: [...warnings] };
    }),
    serve(DecideGate, async ({ comment, ...input }, context) => {
      const by = principalOf(context);
      const { runId } = await runs.decideGate({ ...input, ...(comment === undefined ? {} : { comment }) }, by);
      return { gateId: input.gateId, runId, decision: input.decision, by, commit: input.commit };
    }),
    serve(CancelRun, async ({ runId, reason }, context) => ({
      runId,
      state: await runs.cancel(runId, principalOf(context), reason),
    })),
    serve(RetryRun, ({ runId }, context) => intake.retry(runId, principalOf(context))),
    serve(AddProject, async ({ replace, unseen, ...input }) => {
      const project = Project.parse(input);
      const refusal = whyRemoteRefused(project.remote);
      if (refusal !== undefined) throw refusal;
      if (!topologies.has(project.topology)) {
        throw new FlotillaError(errors.topologyUnknown, {
          topology: project.topology,
          topologies: [...topologies].join(', '),
        });
      }
      if (unseen) return { ...(await projects.add(project, replace)), warnings: [] };
      const found = await inspect(project, inspectRemote);
      const added = await projects.add({ ...project, branch: found.branch }, replace);
      return { ...added, warnings: [...warnOfRemote(project, found)] };
    }),
    serve(RemoveProject, ({ name }) => projects.remove(name)),
    serve(ListDead, ({ limit, before }) => deadLetters.list(limit, before)),
    serve(ShowDead, ({ deadId }) => deadLetters.show(deadId)),
    serve(ReplayDead, async ({ deadId, key }) => ({ deadId, messageId: await deadLetters.replay(deadId, key) })),
    serve(ArchiveRuns, (input) => archive.answer(input)),
  ];
}

/** What the remote has of a project's branch: a default that moves later moves no project. Throws REMOTE_NOT_ASKED. */
async function inspect(project: Project, inspectRemote: RouterCalls['inspectRemote']) {
  const { name, remote, credential, branch } = project;
  try {
    return await inspectRemote({ remote, credential, branch, lookForTests: needsDetectedTests(project) });
  } catch (error) {
    const unasked =
      error instanceof FlotillaError && (error.is(errors.callUnanswered) || error.is(errors.callTimedOut));
    if (!unasked) throw error;
    throw new FlotillaError(errors.remoteNotAsked, { project: name, remote, reason: error.message }, { cause: error });
  }
}

/** A branch that is named in a task is told at once where it is not there. What else the remote says, its run will tell. Throws BRANCH_UNKNOWN. */
async function askForBranch(
  { project: name, branch }: Task,
  { projects, inspectRemote }: Pick<RouterCalls, 'projects' | 'inspectRemote'>,
): Promise<readonly Warning[]> {
  const project = branch === undefined ? undefined : await projects.find(name);
  if (project === undefined) return [];
  try {
    const { remote, credential } = project;
    await inspectRemote({ remote, credential, branch }, { timeoutMs: branchPatienceMs });
    return [];
  } catch (error) {
    if (!(error instanceof FlotillaError) || error.is(errors.branchUnknown)) throw error;
    return [warn(new FlotillaError(errors.branchNotAsked, { project: name, branch, reason: error.message }))];
  }
}

/** Below the limit of the call, so that the run still begins in it. */
const branchPatienceMs = 5_000;

/** A service that asks by itself acts for whoever runs the installation. */
function principalOf({ principal }: CallContext): Principal {
  return Principal.parse(principal ?? 'local');
}
