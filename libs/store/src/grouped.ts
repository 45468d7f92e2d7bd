import type { MessageContract } from '@flotilla/contracts/define-message';
import type { RunId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { z } from 'zod';
import type { BegunDelivery, DeliveryToBegin } from './begin-deliveries.ts';
import type { EntryToFind } from './find-entries.ts';
import type { Lease } from './lease.ts';
import type { DeliveryToSettle } from './settle-deliveries.ts';

/** The end of a step's work. */
export interface StepEnd<Schema extends z.ZodObject = z.ZodObject> {
  readonly messageId: string;
  readonly stage: string;
  readonly lease: Lease;
  readonly contract: MessageContract<Schema>;
  readonly answer: z.input<Schema>;
}

/**
 * What many do at once, committed together: each is as durable when it resolves as its own transaction would make it, and costs a
 * share of one. The rare cases go through a transaction of their own, which says what is wrong.
 */
export interface GroupedWrites {
  beginDelivery(delivery: DeliveryToBegin): Promise<BegunDelivery>;
  /** Whether a run's log has an entry of one of these types. */
  hasEntry(wanted: EntryToFind): Promise<boolean>;
  /** Settles a delivery that did not fail, and gives its lease back. Safe to repeat. */
  settleDelivery(delivery: DeliveryToSettle): Promise<void>;
  /** Entries about a step. Throws LEASE_LOST. */
  journal(runId: RunId, entries: readonly NewLogEntry[], lease: Lease): Promise<void>;
  /** Marks the message as handled, publishes its answer and gives the lease back. Throws LEASE_LOST, DELIVERY_ALREADY_HANDLED. */
  answer<Schema extends z.ZodObject>(end: StepEnd<Schema>): Promise<void>;
}
