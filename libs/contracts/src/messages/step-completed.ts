import { z } from 'zod';
import { Spent } from '../allowance.ts';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { RunId, StepId } from '../ids.ts';
import { Outcome } from '../outcome.ts';

export const StepCompleted = defineMessage({
  name: 'StepCompleted',
  subject: 'flotilla.step.completed',
  stream: 'WORK',
  version: 1,
  producers: ['planner', 'executor', 'reviewer', 'merger', 'scribe'],
  consumer: 'router',
  summary: 'Tells the router how a step ended and what it spent.',
  payload: z.object({
    runId: RunId,
    stepId: StepId,
    attempt: z.int().positive().describe('The attempt that was asked for; answers of past ones change nothing.'),
    outcome: Outcome.describe('How the step ended, by `kind`.'),
    spent: Spent.describe('What the attempt spent.'),
  }),
  example: {
    runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
    stepId: 'land',
    attempt: 1,
    outcome: { kind: 'done', result: { verb: 'land', commit: 'c'.repeat(40), tree: 'b'.repeat(40), branch: 'main' } },
    spent: { turns: 0, calls: 0, tokens: 0, microdollars: 0, seconds: 0.4 },
  },
  messageId: ({ runId, stepId, attempt }) => `${runId}/${stepId}/${attempt}/completed`,
});
export type StepCompleted = MessageOf<typeof StepCompleted>;
