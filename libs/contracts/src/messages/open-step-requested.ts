import { z } from 'zod';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { stepFields } from '../step-request.ts';
import { exampleStep } from './step-request.example.ts';

export const OpenStepRequested = defineMessage({
  name: 'OpenStepRequested',
  subject: 'flotilla.step.requested.merger.open',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'merger',
  summary: 'Asks the merger to mirror the remote, resolve the base commit and store its bundle.',
  payload: z.object({
    verb: z.literal('open'),
    ...stepFields,
    branch: z.string().optional().describe("Wanted branch; absent: the project's or the remote's default."),
  }),
  example: { verb: 'open', ...exampleStep('open') },
  messageId: requestId,
});
export type OpenStepRequested = MessageOf<typeof OpenStepRequested>;
