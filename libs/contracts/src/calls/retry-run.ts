import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { RunId } from '../ids.ts';

export const RetryRun = defineCall({
  name: 'retryRun',
  kind: 'command',
  servedBy: 'router',
  roles: ['submit'],
  summary: 'Asks for the task of an ended run again, as a new run. Asked twice, it gives the same new run back.',
  http: { method: 'POST', path: '/v1/runs/{runId}/retry' },
  request: z.strictObject({ runId: RunId.meta({ field: 1, description: 'The run that ended.' }) }),
  response: z.object({
    runId: RunId.meta({ field: 1, description: 'The new run.' }),
    created: z.boolean().meta({ field: 2, description: 'False where the run had been retried already.' }),
  }),
  errors: [
    'RUN_UNKNOWN',
    'RUN_ARCHIVED',
    'RUN_NOT_ENDED',
    'RUN_LANDED',
    'RUN_MAY_HAVE_LANDED',
    'RETRIES_EXHAUSTED',
    'PROJECT_UNKNOWN',
    'TOPOLOGY_UNKNOWN',
  ],
  cli: { verb: 'retry' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8' },
    response: { runId: 'run_01j9z3k9aaaaaaaaaaaaaaaaaa', created: true },
  },
});
