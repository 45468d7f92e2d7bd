import { defineError } from '../flotilla-error.ts';

export const workflowErrors = {} as const;
