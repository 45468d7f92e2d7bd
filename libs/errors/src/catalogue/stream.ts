import { defineError } from '../flotilla-error.ts';

export const streamErrors = {} as const;
