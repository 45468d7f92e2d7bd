import { defineError } from '../flotilla-error.ts';

export const gatewayErrors = {} as const;
