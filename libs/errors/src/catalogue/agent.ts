import { defineError } from '../flotilla-error.ts';

export const agentErrors = {} as const;
