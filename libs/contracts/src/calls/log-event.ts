import { z } from 'zod';
import { RunId, StepId } from '../ids.ts';
import { Json } from './json.ts';

/** An entry of a run's log as clients read it; infra/reference/events.md has the payload of each type. */
export const LogEvent = z
  .object({
    runId: RunId.meta({ field: 1 }),
    sequence: z.int().positive().meta({ field: 2, description: 'Names the entry within its run; there is no gap.' }),
    stepId: StepId.optional().meta({ field: 3, description: 'The step it is about; absent: the run.' }),
    attempt: z.int().positive().optional().meta({ field: 4, description: 'The attempt at that step.' }),
    type: z.string().meta({ field: 5, description: 'What kind of thing happened.' }),
    payload: Json.meta({ field: 6, json: true, description: 'What happened, as the type says.' }),
    traceId: z.string().optional().meta({ field: 7, description: 'The trace that it was written in.' }),
    at: z.iso.datetime().meta({ field: 8, description: 'When it was written, by the clock of its writer.' }),
  })
  .meta({ id: 'LogEvent' });
export type LogEvent = z.infer<typeof LogEvent>;

export const exampleLogEvent: z.input<typeof LogEvent> = {
  runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
  sequence: 12,
  stepId: 'build',
  attempt: 1,
  type: 'tool.started',
  payload: { callId: '1.0', tool: 'fs.read', summary: 'test.js' },
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  at: '2030-01-01T00:00:05.000Z',
};
