import { defineError } from '../flotilla-error.ts';

export const taskErrors = {} as const;
