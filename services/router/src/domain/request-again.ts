import type { Slip } from '@flotilla/workflow/slip';
import { allowStep } from './allow-step.ts';
import type { StepRequest } from './decision.ts';
import { requestStep } from './request-step.ts';
import type { RunState } from './run-state.ts';

/**
 * The request for the step that a run is at, as it was made the first time; undefined where it is at none. Of a cancelled run a
 * landing alone is asked for again: whether it happened must be answered.
 */
export function requestAgain(run: RunState, slip: Slip): StepRequest | undefined {
  if (run.position?.kind !== 'step') return undefined;
  const { stepId, attempt } = run.position;
  const step = slip.steps[stepId];
  if (step?.kind !== 'work' || (run.cancel !== undefined && step.does !== 'land')) return undefined;
  const allowed = step.allowance === null ? undefined : allowStep(step.allowance, slip.budget, run.spent);
  if (allowed?.kind === 'spent') return undefined;
  return requestStep(run, { stepId, attempt, step, allowance: allowed?.allowance ?? null });
}
