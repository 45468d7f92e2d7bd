import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { ProjectName, RunId } from '../ids.ts';
import { exampleRun, RunSummary } from './run-view.ts';
import { limit, RunResult, RunState } from './shapes.ts';

export const ListRuns = defineCall({
  name: 'listRuns',
  kind: 'query',
  servedBy: 'gateway',
  roles: ['read'],
  summary: 'Lists runs, newest first.',
  http: { method: 'GET', path: '/v1/runs' },
  request: z.strictObject({
    project: ProjectName.optional().meta({ field: 1, description: 'Only runs of this project.' }),
    state: RunState.optional().meta({ field: 2, description: 'Only runs in this state.' }),
    result: RunResult.optional().meta({ field: 3, description: 'Only runs that ended like this.' }),
    limit: limit.default(50).meta({ field: 4 }),
    before: RunId.optional().meta({
      field: 5,
      description: 'Only runs older than this one: `next` of the page before.',
    }),
  }),
  response: z.object({
    runs: z.array(RunSummary).meta({ field: 1, description: 'Newest first.' }),
    next: RunId.optional().meta({ field: 2, description: 'Where the next page begins; absent on the last.' }),
  }),
  errors: ['PROJECT_UNKNOWN'],
  cli: { verb: 'list' },
  example: { request: { project: 'slugify' }, response: { runs: [exampleRun] } },
});
