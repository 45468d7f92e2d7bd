import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { DeadId, DeadLetter, exampleDeadLetter } from './dead-view.ts';
import { limit } from './shapes.ts';

export const ListDead = defineCall({
  name: 'listDead',
  kind: 'query',
  servedBy: 'router',
  roles: ['operate'],
  summary: 'Lists dead letters, newest first; they are kept for 30 days.',
  http: { method: 'GET', path: '/v1/dead' },
  request: z.strictObject({
    limit: limit.default(50).meta({ field: 1 }),
    before: DeadId.optional().meta({
      field: 2,
      description: 'Only letters older than this one: `next` of the page before.',
    }),
  }),
  response: z.object({
    letters: z.array(DeadLetter).meta({ field: 1, description: 'Newest first.' }),
    next: DeadId.optional().meta({ field: 2, description: 'Where the next page begins; absent on the last.' }),
  }),
  errors: [],
  cli: { verb: 'dead list' },
  example: { request: {}, response: { letters: [exampleDeadLetter] } },
});
