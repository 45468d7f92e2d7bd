import { nothingSpent } from '@flotilla/contracts/allowance';
import type { VerifyStepRequested } from '@flotilla/contracts/messages/verify-step-requested';
import type { StepAnswer, StepContext, StepWork } from '@flotilla/host/step-work';
import { checkTree } from './check-tree.ts';
import { describeUnchecked } from './domain/describe-unchecked.ts';
import type { ReviewerParts } from './review-change.handler.ts';

/** The checks alone, on the tree that would land. */
export class VerifyCandidateHandler implements StepWork<VerifyStepRequested> {
  readonly #parts: Pick<ReviewerParts, 'workplaces' | 'limits'>;

  constructor(parts: Pick<ReviewerParts, 'workplaces' | 'limits'>) {
    this.#parts = parts;
  }

  async work(request: VerifyStepRequested, context: StepContext): Promise<StepAnswer> {
    const { workplaces, limits } = this.#parts;
    const wanted = { ...request, step: request, change: request.candidate };
    const checked = await checkTree(workplaces, wanted, context, limits);
    if (checked.kind !== 'passed') return { outcome: describeUnchecked(checked, request.project), spent: nothingSpent };
    return { outcome: { kind: 'done', result: { verb: 'verify', evidence: checked.evidence } }, spent: nothingSpent };
  }
}
