import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { DeadId } from './dead-view.ts';

export const ReplayDead = defineCall({
  name: 'replayDead',
  kind: 'command',
  servedBy: 'router',
  roles: ['operate'],
  summary:
    'Publishes a dead intake message again, under a new message id, once its cause is gone. A failed step is retried by its run instead.',
  http: { method: 'POST', path: '/v1/dead/{deadId}/replay' },
  request: z.strictObject({ deadId: DeadId.meta({ field: 1 }) }),
  response: z.object({
    deadId: DeadId.meta({ field: 1 }),
    messageId: z.string().meta({ field: 2, description: 'Id under which it was published.' }),
  }),
  errors: ['DEAD_UNKNOWN', 'DEAD_NOT_REPLAYABLE'],
  cli: { verb: 'dead replay' },
  example: { request: { deadId: 7 }, response: { deadId: 7, messageId: 'replay/7' } },
});
