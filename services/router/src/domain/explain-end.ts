import type { Principal, StepId } from '@flotilla/contracts/ids';
import type { Outcome } from '@flotilla/contracts/outcome';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError, type ErrorDefinition, type ErrorDetails } from '@flotilla/errors/flotilla-error';

/** Why a run ended without landing, in words for a person. */
export interface Explanation {
  readonly code: string;
  readonly message: string;
  readonly advice: string;
}

export type Ending =
  | { readonly kind: 'limit'; readonly stepId: StepId; readonly limit: string }
  | { readonly kind: 'declined'; readonly by: Principal }
  | { readonly kind: 'not_possible'; readonly stepId: StepId; readonly verb: string; readonly topology: string }
  | { readonly kind: 'foreign_result'; readonly stepId: StepId; readonly verb: string }
  | { readonly kind: 'outcome'; readonly stepId: StepId; readonly outcome: Outcome };

export function explainEnd(ending: Ending): Explanation {
  switch (ending.kind) {
    case 'limit':
      return explain(errors.runLimitReached, { limit: ending.limit, stepId: ending.stepId });
    case 'declined':
      return explain(errors.runDeclined, { by: ending.by });
    case 'not_possible':
      return explain(errors.stepNotPossible, { stepId: ending.stepId, verb: ending.verb, topology: ending.topology });
    case 'foreign_result':
      return explain(errors.resultForeign, { stepId: ending.stepId, verb: ending.verb });
    case 'outcome':
      return explainOutcome(ending.stepId, ending.outcome);
  }
}

function explainOutcome(stepId: StepId, outcome: Outcome): Explanation {
  switch (outcome.kind) {
    case 'failed':
      return { code: outcome.code, message: outcome.message, advice: outcome.advice };
    case 'limit_reached':
      return explain(errors.runLimitReached, { limit: outcome.limit, stepId });
    case 'cancelled':
    case 'done':
    case 'no_changes':
    case 'changes_requested':
    case 'conflict':
    case 'unverified':
    case 'parked':
      return explain(errors.runStopped, { stepId, outcome: outcome.kind });
  }
}

function explain(definition: ErrorDefinition, details: ErrorDetails): Explanation {
  const { code, message, advice } = new FlotillaError(definition, details);
  return { code, message, advice };
}
