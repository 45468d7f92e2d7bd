import { z } from 'zod';
import type { ServiceName } from './services.ts';

/** What a step does. Each verb is one subject, one handler and belongs to one service. */
export const verbs = ['open', 'setup', 'plan', 'build', 'review', 'verify', 'land', 'remember'] as const;
export const Verb = z.enum(verbs);
export type Verb = z.infer<typeof Verb>;

export const serviceOfVerb: Readonly<Record<Verb, ServiceName>> = {
  open: 'merger',
  setup: 'executor',
  plan: 'planner',
  build: 'executor',
  review: 'reviewer',
  verify: 'reviewer',
  land: 'merger',
  remember: 'scribe',
};
