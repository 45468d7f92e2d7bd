import { z } from 'zod';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { agentFields, stepFields, workFields } from '../step-request.ts';
import { exampleAgent, exampleStep, exampleWork } from './step-request.example.ts';

export const PlanStepRequested = defineMessage({
  name: 'PlanStepRequested',
  subject: 'flotilla.step.requested.planner.plan',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'planner',
  summary: 'Asks the planner for a short plan from a read-only look.',
  payload: z.object({
    verb: z.literal('plan'),
    ...stepFields,
    ...workFields,
    ...agentFields,
  }),
  example: { verb: 'plan', ...exampleStep('plan'), ...exampleWork, ...exampleAgent },
  messageId: requestId,
});
export type PlanStepRequested = MessageOf<typeof PlanStepRequested>;
