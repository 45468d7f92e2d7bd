import { defineError } from '../flotilla-error.ts';

export const policyErrors = {} as const;
