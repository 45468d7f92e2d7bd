import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { RunId, StepId } from '../ids.ts';
import { limit } from './shapes.ts';

/** One command that ran in a slot for a run. */
export const CommandOutput = z
  .object({
    sequence: z.int().positive().meta({ field: 1, description: 'Of the entry of the log that tells of it.' }),
    stepId: StepId.meta({ field: 2 }),
    attempt: z.int().positive().meta({ field: 3, description: 'The attempt at that step.' }),
    kind: z
      .enum(['setup', 'check', 'command'])
      .meta({ id: 'OutputKind' })
      .meta({ field: 4, description: '`command`: run by the agent.' }),
    command: z.string().meta({ field: 5, description: 'What ran.' }),
    exitCode: z.int().optional().meta({ field: 6, description: 'Absent where it is not kept, as of setup.' }),
    timedOut: z.boolean().meta({ field: 7, description: 'True where it was ended for taking too long.' }),
    durationMs: z.int().nonnegative().meta({ field: 8, description: 'Milliseconds it took.' }),
    output: z.string().meta({ field: 9, description: 'Text from inside the sandbox: escape it for a terminal.' }),
    at: z.iso.datetime().meta({ field: 10, description: 'When it had ended.' }),
  })
  .meta({ id: 'CommandOutput' });
export type CommandOutput = z.infer<typeof CommandOutput>;

export const ShowOutput = defineCall({
  name: 'showOutput',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Shows what setup, checks and the commands of the agent printed, in order.',
  http: { method: 'GET', path: '/v1/runs/{runId}/output' },
  request: z.strictObject({
    runId: RunId.meta({ field: 1 }),
    stepId: StepId.optional().meta({ field: 2, description: 'Only commands of this step.' }),
    after: z
      .int()
      .nonnegative()
      .default(0)
      .meta({ field: 3, description: 'Only commands that ended after this sequence.' }),
    limit: limit.default(100).meta({ field: 4 }),
  }),
  response: z.object({
    outputs: z.array(CommandOutput).meta({ field: 1, description: 'In the order they ended.' }),
    next: z
      .int()
      .positive()
      .optional()
      .meta({ field: 2, description: '`after` of the next page; absent on the last.' }),
  }),
  errors: ['RUN_UNKNOWN', 'RUN_ARCHIVED', 'STEP_UNKNOWN'],
  cli: { verb: 'output' },
  example: {
    request: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8', stepId: 'review' },
    response: {
      outputs: [
        {
          sequence: 31,
          stepId: 'review',
          attempt: 1,
          kind: 'check',
          command: 'npm test',
          exitCode: 0,
          timedOut: false,
          durationMs: 900,
          output: 'ok',
          at: '2030-01-01T00:00:40.000Z',
        },
      ],
    },
  },
});
