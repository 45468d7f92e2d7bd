import { z } from 'zod';
import type { EventContract } from './define-event.ts';
import { journalEvents } from './events/journal-events.ts';
import { runEvents } from './events/run-events.ts';
import { stepEvents } from './events/step-events.ts';
import { RunId, StepId, TraceContext } from './ids.ts';

const events = [...runEvents, ...stepEvents, ...journalEvents] as const;

/** Every kind of log entry, by what it tells of: the run, a step, the agent inside a step. */
export const eventCatalogue: readonly EventContract[] = events as unknown as readonly EventContract[];

type Events = (typeof events)[number];
export type EventType = Events['type'];
export type EventPayload<Type extends EventType> = Events extends infer Contract
  ? Contract extends EventContract<Type, infer Schema>
    ? z.output<Schema>
    : never
  : never;

/** An entry as its writer gives it; the store adds sequence and time. */
export type NewLogEntry = {
  [Type in EventType]: {
    readonly type: Type;
    readonly stepId?: StepId;
    readonly attempt?: number;
    readonly payload: EventPayload<Type>;
  };
}[EventType];

/** An entry as it is read: runId and sequence name it; sequences of a run have no gap. */
export const LogEntry = z.object({
  runId: RunId,
  sequence: z.int().positive().describe('Its place in the log of the run: 1, 2, 3 and so on.'),
  stepId: StepId.optional().describe('The step it is about; absent: the run.'),
  attempt: z.int().positive().optional().describe('The attempt at that step.'),
  type: z.string().describe('What kind of thing happened.'),
  payload: z.unknown().describe('What happened, as the type says.'),
  trace: TraceContext.optional().describe('The trace that it was written in.'),
  at: z.iso.datetime().describe('When it was written, by the clock of its writer.'),
});
export type LogEntry = z.infer<typeof LogEntry>;

/** Narrows an entry to one type, payload parsed; undefined where it is another or cannot be read. */
export function readEvent<Type extends string, Schema extends z.ZodObject>(
  entry: Pick<LogEntry, 'type' | 'payload'>,
  contract: EventContract<Type, Schema>,
): z.output<Schema> | undefined {
  if (entry.type !== contract.type) return undefined;
  const parsed = contract.payload.safeParse(entry.payload);
  return parsed.success ? parsed.data : undefined;
}
