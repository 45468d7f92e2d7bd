import { z } from 'zod';
import { Change } from '../change.ts';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { stepFields, workFields } from '../step-request.ts';
import { exampleChange, exampleStep, exampleWork } from './step-request.example.ts';

export const VerifyStepRequested = defineMessage({
  name: 'VerifyStepRequested',
  subject: 'flotilla.step.requested.reviewer.verify',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'reviewer',
  summary: 'Asks the reviewer for the checks on the tree that would land.',
  payload: z.object({
    verb: z.literal('verify'),
    ...stepFields,
    ...workFields,
    candidate: Change.describe('The merge that would land.'),
  }),
  example: { verb: 'verify', ...exampleStep('verify'), ...exampleWork, candidate: exampleChange },
  messageId: requestId,
});
export type VerifyStepRequested = MessageOf<typeof VerifyStepRequested>;
