import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import type { ModelPort } from '@flotilla/agent/ports';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import type { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { createWorkspaceMemory } from '@flotilla/git/collect-changes';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { earlyEnd } from '@flotilla/workplace/early-end';
import { runStepAgent } from '@flotilla/workplace/run-step-agent';
import type { Workplace, Workplaces } from '@flotilla/workplace/workplaces';
import { bindWorkspace } from '@flotilla/workplace/workspace-port';
import { checkHandIn, keepChange, keepCheckpoints, type ChangeKeeper } from './keep-change.ts';
import { decideStart } from './domain/decide-start.ts';

export interface BuilderParts {
  readonly workplaces: Pick<Workplaces, 'prepare'>;
  readonly changes: ChangeKeeper;
  readonly model: ModelPort;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Has an agent make the change in a slot and captures it as one commit on the base. An attempt that died goes on from its
 * journal: what ran is not run again, and the workspace is the last checkpoint.
 */
export class BuildChangeHandler implements StepWork<BuildStepRequested> {
  readonly #parts: BuilderParts;

  constructor(parts: BuilderParts) {
    this.#parts = parts;
  }

  async work(request: BuildStepRequested, context: StepContext): Promise<StepAnswer> {
    await using place = await this.#prepare(request, await context.journal(), context);
    const end = await this.#runAgent(request, place, context);
    if (end.kind !== 'finished') return { outcome: earlyEnd(end), spent: end.spent };
    if (end.report.role !== 'executor') throw new TypeError(`the executor handed in a report as ${end.report.role}`);

    const { summary } = end.report;
    const kept = await context.span('change.capture', {}, () =>
      keepChange(this.#parts.changes, request, place, summary),
    );
    if (kept === undefined) return { outcome: { kind: 'no_changes', reason: summary }, spent: end.spent };
    const { change, diff, diffTruncated } = kept;
    return {
      outcome: { kind: 'done', result: { verb: 'build', change, summary } },
      spent: end.spent,
      entries: [{ type: 'change.captured', payload: { change, summary, diff, diffTruncated } }],
    };
  }

  #prepare(request: BuildStepRequested, journal: readonly LogEntry[], context: StepContext): Promise<Workplace> {
    const { repository, base, change, setupKey } = request;
    const start = decideStart(base, change, journal);
    const commits = start.commit === base.commit ? [base] : [base, start];
    const wanted = { step: request, repository, commits, lay: start.commit, head: base.commit, setupKey };
    return this.#parts.workplaces.prepare(wanted, context);
  }

  #runAgent(request: BuildStepRequested, place: Workplace, context: StepContext): Promise<AgentOutcome> {
    const { model, now, changes } = this.#parts;
    const { goal, plan, feedback, project, verification } = request;
    const memory = createWorkspaceMemory();
    return runStepAgent(
      {
        task: { role: 'executor', goal, feedback, ...(plan === undefined ? {} : { plan }) },
        request,
        model,
        workspace: bindWorkspace(place),
        checks: project.checks,
        verification,
        checkpoint: keepCheckpoints(changes, request, place, memory),
        handIn: checkHandIn(changes, request, place, memory),
        now,
      },
      context,
    );
  }
}
