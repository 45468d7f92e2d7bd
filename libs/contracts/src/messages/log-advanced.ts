import { z } from 'zod';
import { defineMessage, type MessageOf } from '../define-message.ts';
import { RunId } from '../ids.ts';
import { eventsSubject } from '../streams.ts';

/** A wake-up for readers of a run's log; what happened is read from Postgres in its order. */
export const LogAdvanced = defineMessage({
  name: 'LogAdvanced',
  subject: 'flotilla.events.*',
  stream: 'EVENTS',
  version: 1,
  producers: ['router', 'planner', 'executor', 'reviewer', 'merger', 'scribe'],
  consumer: 'listener',
  summary:
    'The log of a run grew. Carries its newest entries where they are small enough; readers take order from the sequence.',
  payload: z.object({
    runId: RunId,
    sequence: z.int().positive().describe('Sequence of the newest entry committed.'),
    entries: z
      .array(
        z.object({
          sequence: z.int().positive().describe('Its place in the log of the run.'),
          type: z.string().describe('Kind of the entry.'),
          stepId: z.string().optional().describe('The step it is about; absent: the run.'),
          at: z.iso.datetime().describe('When it was written.'),
        }),
      )
      .describe('The newest entries, without their payloads; at most 100.'),
  }),
  example: {
    runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
    sequence: 12,
    entries: [{ sequence: 12, type: 'step.completed', stepId: 'land', at: '2030-01-01T00:00:00.000Z' }],
  },
  messageId: ({ runId, sequence }) => `${runId}/log/${sequence}`,
  subjectOf: ({ runId }) => eventsSubject(runId),
});
export type LogAdvanced = MessageOf<typeof LogAdvanced>;
