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
    verification: z
      .enum(['off', 'auto', 'required'])
      .describe(
        'Whether changed files must have passed the detected tests before the agent ends: off: no; auto: it is asked for a few times; required: after that a limit is reached.',
      ),
    plan: z.string().optional().describe('What the planner wrote, where the topology has a planner.'),
    change: Change.optional().describe(
      'The change so far. On the same base: go on from it; on another: it met a conflict, start from the base.',
    ),
    feedback: z.array(Feedback).describe('What sent the work back, oldest first; empty at the first attempt.'),
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
