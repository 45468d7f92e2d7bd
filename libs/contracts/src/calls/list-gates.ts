import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { GateId, ProjectName, RunId } from '../ids.ts';
import { exampleGate, Gate, GateState } from './gate-view.ts';
import { limit } from './shapes.ts';

export const ListGates = defineCall({
  name: 'listGates',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Lists gates, newest first; without `state` those that wait for a person.',
  http: { method: 'GET', path: '/v1/gates' },
  request: z.strictObject({
    project: ProjectName.optional().meta({ field: 1, description: 'Only gates of this project.' }),
    runId: RunId.optional().meta({ field: 2, description: 'Only gates of this run.' }),
    state: GateState.default('open').meta({ field: 3, description: 'Only gates in this state.' }),
    limit: limit.default(50).meta({ field: 4 }),
    before: GateId.optional().meta({
      field: 5,
      description: 'Only gates older than this one: `next` of the page before.',
    }),
  }),
  response: z.object({
    gates: z.array(Gate).meta({ field: 1, description: 'Newest first.' }),
    next: GateId.optional().meta({ field: 2, description: 'Where the next page begins; absent on the last.' }),
  }),
  errors: ['PROJECT_UNKNOWN', 'RUN_UNKNOWN', 'RUN_ARCHIVED'],
  cli: { verb: 'gates' },
  example: { request: {}, response: { gates: [exampleGate] } },
});
