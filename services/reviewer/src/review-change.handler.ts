import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import type { ModelPort } from '@flotilla/agent/ports';
import { nothingSpent } from '@flotilla/contracts/allowance';
import type { Evidence } from '@flotilla/contracts/change';
import type { ReviewStepRequested } from '@flotilla/contracts/messages/review-step-requested';
import { diffCommits } from '@flotilla/git/diff';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { earlyEnd } from '@flotilla/workplace/early-end';
import { runStepAgent } from '@flotilla/workplace/run-step-agent';
import type { Workplaces } from '@flotilla/workplace/workplaces';
import { bindWorkspace } from '@flotilla/workplace/workspace-port';
import { checkTree, wantedPlace } from './check-tree.ts';
import { decideReview } from './domain/decide-review.ts';
import { describeUnchecked } from './domain/describe-unchecked.ts';
import type { CheckLimits } from './run-checks.ts';

export interface ReviewerParts {
  readonly workplaces: Pick<Workplaces, 'prepare'>;
  readonly model: ModelPort;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly limits?: CheckLimits;
}

const diffLimitBytes = 100 * 1024;

/** First the project's checks, then a model's eyes. What does not pass is not shown to the model. */
export class ReviewChangeHandler implements StepWork<ReviewStepRequested> {
  readonly #parts: ReviewerParts;

  constructor(parts: ReviewerParts) {
    this.#parts = parts;
  }

  async work(request: ReviewStepRequested, context: StepContext): Promise<StepAnswer> {
    const { workplaces, limits } = this.#parts;
    const checked = await checkTree(workplaces, { ...request, step: request }, context, limits);
    if (checked.kind !== 'passed') return { outcome: describeUnchecked(checked, request.project), spent: nothingSpent };
    const { evidence, notes } = checked;
    const end = await this.#runAgent(request, evidence, context);
    if (end.kind !== 'finished') return { outcome: earlyEnd(end), spent: end.spent };
    if (end.report.role !== 'reviewer') throw new TypeError(`the reviewer handed in a report as ${end.report.role}`);
    const { verdict, summary } = end.report;
    const findings = [...end.report.findings, ...notes];
    return {
      outcome: decideReview({ verdict, summary, findings }, evidence),
      spent: end.spent,
      entries: [{ type: 'review.written', payload: { verdict, summary, findings } }],
    };
  }

  /** In a slot of its own: the checks ran the author's code, which may have changed the files that the model reads. */
  async #runAgent(request: ReviewStepRequested, { checks }: Evidence, context: StepContext): Promise<AgentOutcome> {
    const { workplaces, model, now } = this.#parts;
    const { goal, plan, change, project } = request;
    await using place = await workplaces.prepare(wantedPlace({ ...request, step: request }), context);
    const diff = await diffCommits(place.mirror, change.base, change.commit, { limitBytes: diffLimitBytes });
    return await runStepAgent(
      {
        task: {
          role: 'reviewer',
          goal,
          diff: diff.text,
          diffTruncated: diff.truncated,
          checksPassed: checks,
          ...(plan === undefined ? {} : { plan }),
        },
        request: { ...request, mode: 'plan' },
        model,
        workspace: bindWorkspace(place),
        checks: project.checks,
        now,
      },
      context,
    );
  }
}
