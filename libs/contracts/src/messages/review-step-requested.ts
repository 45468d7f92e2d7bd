import { z } from 'zod';
import { Change } from '../change.ts';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { agentFields, stepFields, workFields } from '../step-request.ts';
import { exampleAgent, exampleChange, exampleStep, exampleWork } from './step-request.example.ts';

export const ReviewStepRequested = defineMessage({
  name: 'ReviewStepRequested',
  subject: 'flotilla.step.requested.reviewer.review',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'reviewer',
  summary: 'Asks the reviewer for the checks in a clean slot and a review of the change.',
  payload: z.object({
    verb: z.literal('review'),
    ...stepFields,
    ...workFields,
    ...agentFields,
    plan: z.string().optional().describe('What the planner wrote, where the topology has a planner.'),
    change: Change.describe('What is to be reviewed.'),
  }),
  example: { verb: 'review', ...exampleStep('review'), ...exampleWork, ...exampleAgent, change: exampleChange },
  messageId: requestId,
});
export type ReviewStepRequested = MessageOf<typeof ReviewStepRequested>;
