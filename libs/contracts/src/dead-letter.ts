import { z } from 'zod';

/** A message that no handler could settle well, as the DEAD stream keeps it. */
export const DeadLetterRecord = z.object({
  stage: z.string().describe('Name of the message contract that the stage takes.'),
  subject: z.string().describe('Subject the message came on.'),
  messageId: z.string().describe('Names the occasion of the message.'),
  runId: z.string().optional().describe('The run it is about, where it could be read that far.'),
  stepId: z.string().optional().describe('The step it is about, likewise.'),
  code: z.string().describe('Code of the error that ended it.'),
  message: z.string().describe('What happened.'),
  advice: z.string().describe('What to do next.'),
  deliveries: z.int().nonnegative().describe('How often it was delivered.'),
  at: z.iso.datetime().describe('When it was given up.'),
  headers: z.record(z.string(), z.string()).describe('As the message carried them.'),
  payload: z
    .string()
    .describe('The message as it came, or its beginning: text, JSON where its sender kept to the contract.'),
  payloadBytes: z
    .int()
    .nonnegative()
    .optional()
    .describe('Size of the message as it came; more than the payload has where only its beginning is kept.'),
});
export type DeadLetterRecord = z.infer<typeof DeadLetterRecord>;

export const exampleDeadLetterRecord: z.input<typeof DeadLetterRecord> = {
  stage: 'TaskSubmitted',
  subject: 'flotilla.tasks.submitted',
  messageId: 'task/slugify/ticket-4711',
  code: 'PROJECT_UNKNOWN',
  message: 'There is no project slugify',
  advice: 'Add it with flotilla project add, then replay the message.',
  deliveries: 1,
  at: '2030-01-01T00:00:00.000Z',
  headers: {},
  payload: '{"goal":"Make slugify keep digits.","project":"slugify"}',
};
