import { defineError } from '../flotilla-error.ts';

export const modelErrors = {
} as const;
