import { z } from 'zod';
import { Change, Evidence } from '../change.ts';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { requestId } from '../request-id.ts';
import { stepFields, workFields } from '../step-request.ts';
import { exampleChange, exampleStep, exampleWork } from './step-request.example.ts';

export const LandStepRequested = defineMessage({
  name: 'LandStepRequested',
  subject: 'flotilla.step.requested.merger.land',
  stream: 'WORK',
  version: 1,
  producers: ['router'],
  consumer: 'merger',
  summary: 'Asks the merger to land an approved change on its branch.',
  payload: z.object({
    verb: z.literal('land'),
    ...stepFields,
    ...workFields,
    approved: Change.describe('What a person approved.'),
    candidate: Change.optional().describe('The merge that was verified since.'),
    evidence: z.array(Evidence).describe('What is known to pass, by tree.'),
    approvedBy: z.string().describe('Principal who approved it.'),
  }),
  example: {
    verb: 'land',
    ...exampleStep('land'),
    ...exampleWork,
    approved: exampleChange,
    evidence: [{ tree: 'b'.repeat(40), image: 'flotilla/sandbox:1', checks: ['npm test'] }],
    approvedBy: 'local',
  },
  messageId: requestId,
});
export type LandStepRequested = MessageOf<typeof LandStepRequested>;
