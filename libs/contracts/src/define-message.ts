import type { z } from 'zod';
import type { ServiceName } from './services.ts';

export type StreamName = 'TASKS' | 'WORK' | 'EVENTS' | 'DEAD';

/** A message that crosses a process boundary over JetStream. */
export interface MessageContract<Schema extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Subject it is published on; `*` stands for a token that varies with the payload (see `subjectOf`). */
  readonly subject: string;
  readonly stream: StreamName;
  readonly version: number;
  /** `client` is anybody outside who may publish. */
  readonly producers: readonly (ServiceName | 'client')[];
  /** The service that takes it from the stream; `listener`: nobody does, services hear it as it passes. */
  readonly consumer: ServiceName | 'listener';
  readonly summary: string;
  readonly payload: Schema;
  /** Golden example: parsed in the contract test and printed in the reference. */
  readonly example: z.input<Schema>;
  /** Names the occasion, so that a repeat is deduplicated and a new cause is not. */
  readonly messageId: (payload: z.output<Schema>) => string;
  /** Where `subject` has a wildcard: the concrete subject for a payload. */
  readonly subjectOf?: (payload: z.output<Schema>) => string;
}

export type MessageOf<Contract> = Contract extends MessageContract<infer Schema> ? z.output<Schema> : never;

export function defineMessage<Schema extends z.ZodObject>(contract: MessageContract<Schema>): MessageContract<Schema> {
  return contract;
}
