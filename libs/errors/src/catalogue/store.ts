import { defineError } from '../flotilla-error.ts';

export const storeErrors = {} as const;
