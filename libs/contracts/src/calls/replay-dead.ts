import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { DeadId } from './dead-view.ts';

export const ReplayDead = defineCall({
  name: 'replayDead',
  kind: 'command',
  servedBy: 'router',
  roles: ['operate'],
  summary:
    'Publishes a dead intake message again, under a new message id, once its cause is gone. Each request is an occasion of its own, unless the header Idempotency-Key, which stands for `key`, says that it is the same one. A failed step is retried by its run instead.',
  http: { method: 'POST', path: '/v1/dead/{deadId}/replay', idempotencyKey: 'key' },
  request: z.strictObject({
    deadId: DeadId.meta({ field: 1 }),
    key: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'a key has 1 to 128 visible ASCII characters')
      .optional()
      .meta({ field: 2, description: 'Names the occasion: the same key is the same replay.' }),
  }),
  response: z.object({
    deadId: DeadId.meta({ field: 1 }),
    messageId: z.string().meta({ field: 2, description: 'Id under which it was published.' }),
  }),
  errors: ['DEAD_UNKNOWN', 'DEAD_NOT_REPLAYABLE', 'DEAD_EMPTY', 'DEAD_INCOMPLETE'],
  cli: { verb: 'dead replay' },
  example: { request: { deadId: 7 }, response: { deadId: 7, messageId: 'replay/7/occasion_1' } },
});
