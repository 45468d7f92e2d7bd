import type { TraceContext } from '@flotilla/contracts/ids';
import type { MessageContract } from '@flotilla/contracts/define-message';
import type { z } from 'zod';
import type { RetryBudget } from './decide-settlement.ts';

/** The lease that a delivery runs under, where its stage has one. */
export interface DeliveryLease {
  readonly key: string;
  readonly holder: string;
  readonly fence: number;
}

export interface Delivery {
  /** Names the occasion: the sender's id, or where the sender is outside the fleet, the broker's place of the message. */
  readonly messageId: string;
  /** The stage's name, as the inbox knows it. */
  readonly stage: string;
  readonly subject: string;
  readonly headers: ReadonlyMap<string, string>;
  /** 1 for the first arrival; grows with each one, also after waiting. */
  readonly delivery: number;
  /** When the broker took the message. */
  readonly at: Date;
  /** Aborted when the lease is lost or the process stops; its reason is the error. */
  readonly signal: AbortSignal;
  readonly lease?: DeliveryLease;
  readonly trace?: TraceContext;
}

/** Return to acknowledge; throw to settle by the error's remedy. Must be safe to run twice. */
export interface Handler<Payload> {
  handle(message: Payload, delivery: Delivery): Promise<void>;
}

export type HandlerClass<Payload> = abstract new (...dependencies: never[]) => Handler<Payload>;

/** A row of a service's table: one message, who handles it, how often a failure is tried again. */
export interface Stage {
  readonly contract: MessageContract;
  /** Token under which the service's module provides the handler. */
  readonly handler: abstract new (...dependencies: never[]) => unknown;
  readonly budget: RetryBudget;
  /** Messages handled at once by one process; a function is asked before each pull. */
  readonly concurrency: number | (() => number);
  /** Key of the lease that a delivery takes before it is handled. Default: no lease. */
  readonly leaseKey?: (message: never) => string;
}

export function stage<Schema extends z.ZodObject>(
  contract: MessageContract<Schema>,
  handler: HandlerClass<z.output<Schema>>,
  options: {
    readonly budget: RetryBudget;
    readonly concurrency: number | (() => number);
    readonly leaseKey?: (message: z.output<Schema>) => string;
  },
): Stage {
  // A table holds stages of different payloads; the runner gives each handler what its own contract parsed.
  return { ...options, handler, contract: contract as unknown as MessageContract };
}
