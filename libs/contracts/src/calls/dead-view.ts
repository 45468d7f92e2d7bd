import { z } from 'zod';
import { RunId } from '../ids.ts';

export const DeadId = z.int().positive().describe('Names the dead letter: its place in the DEAD stream.');

/** A message that no handler could settle well. */
export const DeadLetter = z
  .object({
    deadId: DeadId.meta({ field: 1 }),
    stage: z.string().meta({ field: 2, description: 'The row of the stage table that gave up.' }),
    subject: z.string().meta({ field: 3, description: 'Subject the message came on.' }),
    messageId: z.string().meta({ field: 4, description: 'Names the occasion of the message.' }),
    runId: RunId.optional().meta({ field: 5, description: 'The run it is about, where it could be read that far.' }),
    code: z.string().meta({ field: 6, description: 'Code of the error that ended it.' }),
    message: z.string().meta({ field: 7, description: 'What happened.' }),
    advice: z.string().meta({ field: 8, description: 'What to do next.' }),
    deliveries: z.int().nonnegative().meta({ field: 9, description: 'How often it was delivered.' }),
    at: z.iso.datetime().meta({ field: 10, description: 'When it was given up.' }),
  })
  .meta({ id: 'DeadLetter' });
export type DeadLetter = z.infer<typeof DeadLetter>;

export const exampleDeadLetter: z.input<typeof DeadLetter> = {
  deadId: 7,
  stage: 'TaskSubmitted',
  subject: 'flotilla.tasks.submitted',
  messageId: 'task/slugify/ticket-4711',
  code: 'PROJECT_UNKNOWN',
  message: 'There is no project slugify',
  advice: 'Add it with flotilla project add, then replay the message.',
  deliveries: 1,
  at: '2030-01-01T00:00:00.000Z',
};
