import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { RunId } from '../ids.ts';
import { Task } from '../messages/task-submitted.ts';
import { Failure, Mode } from './shapes.ts';

export const SubmitTask = defineCall({
  name: 'submitTask',
  kind: 'command',
  servedBy: 'router',
  roles: ['submit'],
  summary:
    'Gives the fleet a task and answers with its run. The header Idempotency-Key stands for `externalKey` where that is absent; the same key gives the same run back, for ever. A branch that is named is asked of the remote, where that answers within seconds.',
  http: { method: 'POST', path: '/v1/tasks', idempotencyKey: 'externalKey' },
  request: z.strictObject({
    goal: Task.shape.goal.meta({ field: 1 }),
    project: Task.shape.project.meta({ field: 2 }),
    topology: Task.shape.topology.meta({ field: 3 }),
    branch: Task.shape.branch.meta({ field: 4 }),
    mode: Mode.optional().meta({
      field: 5,
      description:
        'May only restrict: plan changes nothing, and the run ends with what it found; normal refuses what it would ask for while nobody can be asked during a step. Default: the mode of the installation, FLOTILLA_RUN_MODE.',
    }),
    externalKey: Task.shape.externalKey.meta({ field: 6 }),
    setup: Task.shape.setup.meta({ field: 7 }),
  }),
  response: z.object({
    runId: RunId.meta({ field: 1 }),
    created: z.boolean().meta({ field: 2, description: 'False where the key had a run already.' }),
    warnings: z
      .array(Failure)
      .default([])
      .meta({ field: 3, description: 'What could not be made sure of before the run began.' }),
  }),
  errors: ['PROJECT_UNKNOWN', 'TOPOLOGY_UNKNOWN', 'EXTERNAL_KEY_REUSED', 'BRANCH_UNKNOWN'],
  cli: { verb: 'submit' },
  example: {
    request: { goal: 'Make slugify keep digits.', project: 'slugify', externalKey: 'ticket-4711' },
    response: { runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8', created: true },
  },
});
