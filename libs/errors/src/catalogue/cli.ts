import { defineError } from '../flotilla-error.ts';

export const cliErrors = {} as const;
