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
    summary: 'The run {runId} has done no step {stepId}',
    advice: 'Name one of those that it came to: {steps}.',
  }),
} as const;
