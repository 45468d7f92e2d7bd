import { defineError } from '../flotilla-error.ts';

export const sandboxErrors = {
  dockerUnavailable: defineError({
    code: 'DOCKER_UNAVAILABLE',
    remedy: 'wait',
    summary: 'The Docker engine does not answer: {reason}',
    advice: 'Start the Docker engine, or set DOCKER_HOST to one that answers; the step goes on by itself.',
  }),
} as const;
