import { z } from 'zod';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { CommitId } from '../ids.ts';
import { requestId } from '../request-id.ts';
import { agentFields, stepFields } from '../step-request.ts';
import { exampleAgent, exampleStep } from './step-request.example.ts';

export const RememberStepRequested = defineMessage({
  name: 'RememberStepRequested',
  subject: 'flotilla.step.requested.scribe.remember',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'scribe',
  summary: 'Asks the scribe for a summary of the run and memories worth keeping.',
  payload: z.object({
    verb: z.literal('remember'),
    ...stepFields,
    ...agentFields,
    result: z.enum(['landed', 'no_changes']).describe('How the run went.'),
    commit: CommitId.optional().describe('What landed, where something did.'),
  }),
  example: { verb: 'remember', ...exampleStep('remember'), ...exampleAgent, result: 'landed', commit: 'c'.repeat(40) },
  messageId: requestId,
});
export type RememberStepRequested = MessageOf<typeof RememberStepRequested>;
