import { defineError } from '../flotilla-error.ts';

export const workflowErrors = {
  topologyInvalid: defineError({
    code: 'TOPOLOGY_INVALID',
    remedy: 'operator',
    summary: 'The topology {topology} is not usable at {path}: {reason}',
    advice: 'Correct {path} in the topology document and load it again.',
  }),
} as const;
