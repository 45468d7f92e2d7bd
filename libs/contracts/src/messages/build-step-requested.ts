import { z } from 'zod';
import { Change } from '../change.ts';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { agentFields, Feedback, stepFields, workFields } from '../step-request.ts';
import { exampleAgent, exampleStep, exampleWork } from './step-request.example.ts';

export const BuildStepRequested = defineMessage({
  name: 'BuildStepRequested',
  subject: 'flotilla.step.requested.executor.build',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'executor',
  summary: 'Asks the executor to make the change in a slot.',
  payload: z.object({
    verb: z.literal('build'),
    ...stepFields,
    ...workFields,
    ...agentFields,
    verification: z.enum(['off', 'auto', 'required']),
    plan: z.string().optional(),
    change: Change.optional().describe(
      'The change so far. On the same base: go on from it; on another: it met a conflict, start from the base.',
    ),
    feedback: z.array(Feedback),
  }),
  example: {
    verb: 'build',
    ...exampleStep('build'),
    ...exampleWork,
    ...exampleAgent,
    verification: 'auto',
    plan: 'Keep digits in slugify.',
    feedback: [],
  },
  messageId: requestId,
});
export type BuildStepRequested = MessageOf<typeof BuildStepRequested>;
