import { defineError } from '../flotilla-error.ts';

export const bringUpErrors = {
} as const;
