import type { Allowance } from '@flotilla/contracts/allowance';
import type { StepId } from '@flotilla/contracts/ids';
import type { SlipWork } from '@flotilla/workflow/slip';
import type { StepRequest } from './decision.ts';
import type { RunState } from './run-state.ts';

export interface StepToRequest {
  readonly stepId: StepId;
  readonly attempt: number;
  readonly step: SlipWork;
  /** Null for a verb without a model. */
  readonly allowance: Allowance | null;
}

/**
 * The request for a step, made of what the run knows; the same facts give the same message. Undefined where the run lacks
 * what the verb needs, above all the approval of `land`: a slip that compiled never comes here so.
 */
export function requestStep(
  run: RunState,
  { stepId, attempt, step, allowance }: StepToRequest,
): StepRequest | undefined {
  const { known } = run;
  const common = {
    runId: run.runId,
    stepId,
    attempt,
    project: run.project,
    goal: run.goal,
    mode: run.mode,
    ...(run.mode === 'normal' ? { asksFirst: true } : {}),
    deadline: run.deadline,
  };
  if (step.does === 'open') {
    return { verb: 'open', ...common, ...present('branch', run.wantedBranch ?? run.project.branch) };
  }
  if (step.does === 'remember') {
    if (allowance === null || (known.landed === undefined && known.noChanges === undefined)) return undefined;
    const result = known.landed === undefined ? 'no_changes' : 'landed';
    return {
      verb: 'remember',
      ...common,
      grants: step.grants,
      allowance,
      result,
      ...present('commit', known.landed?.commit),
    };
  }
  if (known.repository === undefined || known.branch === undefined || known.base === undefined) return undefined;
  const work = {
    ...common,
    repository: known.repository,
    branch: known.branch,
    base: known.base,
    setupKey: known.setupKey,
  };
  const plan = present('plan', known.plan);
  switch (step.does) {
    case 'setup':
      return { verb: 'setup', ...work, skip: !run.setup };
    case 'plan':
      return allowance === null ? undefined : { verb: 'plan', ...work, grants: step.grants, allowance };
    case 'build':
      if (allowance === null) return undefined;
      return {
        verb: 'build',
        ...work,
        grants: step.grants,
        allowance,
        verification: step.verification,
        ...plan,
        ...present('change', known.change),
        feedback: known.feedback,
      };
    case 'review':
      if (allowance === null || known.change === undefined) return undefined;
      return { verb: 'review', ...work, grants: step.grants, allowance, ...plan, change: known.change };
    case 'verify':
      return known.candidate === undefined ? undefined : { verb: 'verify', ...work, candidate: known.candidate };
    case 'land':
      if (known.approval === undefined) return undefined;
      return {
        verb: 'land',
        ...work,
        approved: known.approval.change,
        ...present('candidate', known.candidate),
        evidence: known.evidence,
        approvedBy: known.approval.by,
      };
  }
}

/** An absent field instead of an undefined one. */
function present<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [K in Name]?: Value } {
  // A computed key widens to string.
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in Name]: Value });
}
