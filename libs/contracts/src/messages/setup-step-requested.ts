import { z } from 'zod';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { stepFields, workFields } from '../step-request.ts';
import { exampleStep, exampleWork } from './step-request.example.ts';

export const SetupStepRequested = defineMessage({
  name: 'SetupStepRequested',
  subject: 'flotilla.step.requested.executor.setup',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'executor',
  summary: "Asks the executor to install the project's dependencies on the base commit, or to find them installed.",
  payload: z.object({
    verb: z.literal('setup'),
    ...stepFields,
    ...workFields,
    skip: z.boolean().describe('True when the task was submitted without setup.'),
  }),
  example: { verb: 'setup', ...exampleStep('setup'), ...exampleWork, skip: false },
  messageId: requestId,
});
export type SetupStepRequested = MessageOf<typeof SetupStepRequested>;
