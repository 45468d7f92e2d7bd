import { defineError } from '../flotilla-error.ts';

export const gitErrors = {} as const;
