import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { RunId } from '../ids.ts';
import { RunState } from './shapes.ts';

export const CancelRun = defineCall({
  name: 'cancelRun',
  kind: 'command',
  servedBy: 'router',
  roles: ['submit'],
  summary: 'Asks a run to stop. A step under way stops at its next call; asking again changes nothing.',
  http: { method: 'POST', path: '/v1/runs/{runId}/cancel' },
  request: z.strictObject({
    runId: RunId.meta({ field: 1 }),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(1000)
      .optional()
      .meta({ field: 2, description: 'Why, in words, for the log.' }),
  }),
  response: z.object({
    runId: RunId.meta({ field: 1 }),
    state: RunState.meta({ field: 2, description: 'cancelling while a step has not answered, then ended.' }),
  }),
  errors: ['RUN_UNKNOWN', 'RUN_ENDED', 'RUN_ARCHIVED'],
  cli: { verb: 'cancel' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' },
    response: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8', state: 'cancelling' },
  },
});
