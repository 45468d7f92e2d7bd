import { defineError } from '../flotilla-error.ts';

export const workflowErrors = {
  topologyInvalid: defineError({
    code: 'TOPOLOGY_INVALID',
    remedy: 'operator',
    summary: 'The topology {topology} is not usable at {path}: {reason}',
    advice: 'Correct {path} in the topology document and load it again.',
  }),
  stepUnknown: defineError({
    code: 'STEP_UNKNOWN',
    remedy: 'caller',
    status: 404,
    summary: 'The run {runId} has done no step {stepId}',
    advice: 'See its steps with "flotilla show {runId}", and name one that has begun.',
  }),
} as const;
