import { RunId, StepId } from '@flotilla/contracts/ids';
import { Verb } from '@flotilla/contracts/verbs';
import { z } from 'zod';

/** What the host reads of any step request. */
export const StepRequest = z.object({
  verb: Verb,
  runId: RunId,
  stepId: StepId,
  attempt: z.int().positive(),
  deadline: z.iso.datetime().describe('Waiting and work end here.'),
});
export type StepRequest = z.infer<typeof StepRequest>;

/** What names an attempt of a step, where a message is a request of one; also of a request that is otherwise malformed. */
export const StepName = StepRequest.pick({ runId: true, stepId: true, attempt: true });
export type StepName = z.infer<typeof StepName>;

export function readStepRequest(message: unknown): StepRequest | undefined {
  const parsed = StepRequest.safeParse(message);
  return parsed.success ? parsed.data : undefined;
}
