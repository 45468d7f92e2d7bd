import { z } from 'zod';
import { defineCall } from '../define-call.ts';
import { DeadId, DeadLetter, exampleDeadLetter } from './dead-view.ts';
import { Json } from './json.ts';

export const ShowDead = defineCall({
  name: 'showDead',
  kind: 'query',
  servedBy: 'router',
  roles: ['operate'],
  summary: 'Shows one dead letter with its headers and what it said.',
  http: { method: 'GET', path: '/v1/dead/{deadId}' },
  request: z.strictObject({ deadId: DeadId.meta({ field: 1 }) }),
  response: z.object({
    letter: DeadLetter.meta({ field: 1, description: 'Which message, and why it was given up.' }),
    headers: z.record(z.string(), z.string()).meta({ field: 2, description: 'As the message carried them.' }),
    payload: Json.meta({
      field: 3,
      json: true,
      description: 'A string where it was not JSON, is nested deeper than 64, or is not kept whole.',
    }),
    payloadBytes: z.int().nonnegative().meta({ field: 4, description: 'Size of the message as it came.' }),
    truncated: z.boolean().meta({ field: 5, description: 'True where only the beginning is kept.' }),
  }),
  errors: ['DEAD_UNKNOWN'],
  cli: { verb: 'dead show' },
  example: {
    request: { deadId: 7 },
    response: {
      letter: exampleDeadLetter,
      headers: { 'Nats-Msg-Id': 'task/slugify/ticket-4711' },
      payload: { goal: 'Make slugify keep digits.', project: 'slugify' },
      payloadBytes: 58,
      truncated: false,
    },
  },
});
