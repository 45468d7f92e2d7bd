import type { z } from 'zod';

/** A kind of entry in a run's log: something that happened, written by whoever did it. Types are never reused. */
export interface EventContract<Type extends string = string, Schema extends z.ZodObject = z.ZodObject> {
  readonly type: Type;
  /** `run` entries are the router's; `step` entries need the current lease of their step. */
  readonly scope: 'run' | 'step';
  readonly summary: string;
  readonly payload: Schema;
  readonly example: z.input<Schema>;
}

export function defineEvent<const Type extends string, Schema extends z.ZodObject>(
  contract: EventContract<Type, Schema>,
): EventContract<Type, Schema> {
  return contract;
}
