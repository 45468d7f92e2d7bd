import type { ModelPort } from '@flotilla/agent/ports';
import type { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { earlyEnd } from '@flotilla/workplace/early-end';
import { runStepAgent } from '@flotilla/workplace/run-step-agent';
import type { Workplaces } from '@flotilla/workplace/workplaces';
import { bindWorkspace } from '@flotilla/workplace/workspace-port';

export interface PlannerParts {
  readonly workplaces: Pick<Workplaces, 'prepare'>;
  readonly model: ModelPort;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Has an agent look at the base commit and hand in a plan. Whatever its grants say, nothing is changed. */
export class WritePlanHandler implements StepWork<PlanStepRequested> {
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  async work(request: PlanStepRequested, context: StepContext): Promise<StepAnswer> {
    const { workplaces, model, now } = this.#parts;
    const { repository, base, setupKey, goal, project } = request;
    const wanted = { step: request, repository, commits: [base], lay: base.commit, setupKey };
    await using place = await workplaces.prepare(wanted, context);
    const end = await runStepAgent(
      {
        task: { role: 'planner', goal },
        request: { ...request, mode: 'plan' },
        model,
        workspace: bindWorkspace(place),
        checks: project.checks,
        now,
      },
      context,
    );
    if (end.kind !== 'finished') return { outcome: earlyEnd(end), spent: end.spent };
    if (end.report.role !== 'planner') throw new TypeError(`the planner handed in a report as ${end.report.role}`);
    const { plan } = end.report;
    return {
      outcome: { kind: 'done', result: { verb: 'plan', plan } },
      spent: end.spent,
      entries: [{ type: 'plan.written', payload: { plan } }],
    };
  }
}
