import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { RunId, StepId } from '../ids.ts';
import { exampleLogEvent, LogEvent } from './log-event.ts';
import { limit } from './shapes.ts';

export const ListEvents = defineCall({
  name: 'listEvents',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Reads a page of the log of a run, in order.',
  http: { method: 'GET', path: '/v1/runs/{runId}/log' },
  request: z.strictObject({
    runId: RunId.meta({ field: 1 }),
    after: z.int().nonnegative().default(0).meta({ field: 2, description: 'Only entries after this sequence.' }),
    limit: limit.default(200).meta({ field: 3 }),
    type: z
      .array(z.string().max(64))
      .max(32)
      .default([])
      .meta({ field: 4, description: 'Only entries of these types; none: all.' }),
    stepId: StepId.optional().meta({ field: 5, description: 'Only entries about this step.' }),
  }),
  response: z.object({
    entries: z.array(LogEvent).meta({ field: 1, description: 'In the order of their sequence.' }),
    next: z
      .int()
      .positive()
      .optional()
      .meta({ field: 2, description: '`after` of the next page; absent when there was no more.' }),
  }),
  errors: ['RUN_UNKNOWN', 'RUN_ARCHIVED', 'EVENT_TYPE_UNKNOWN', 'STEP_UNKNOWN'],
  cli: { verb: 'events' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8', after: 11 },
    response: { entries: [exampleLogEvent] },
  },
});
