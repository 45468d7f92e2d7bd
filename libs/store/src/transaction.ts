import type { MessageContract } from '@flotilla/contracts/define-message';
import type { RunId, TraceContext } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { z } from 'zod';
import type { Lease } from './lease.ts';

export interface AppendOptions {
  /** Needed for entries about a step: they are refused with LEASE_LOST unless its number is current. */
  readonly lease?: Lease;
  /** Default: the trace that is active. */
  readonly trace?: TraceContext;
}

export interface PublishOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the trace that is active. */
  readonly trace?: TraceContext;
  /** Id of the message that this answers. Default: the one that this transaction completes. */
  readonly cause?: string;
}

/** A message whose subject is not in the catalogue. */
export interface RawMessage {
  readonly subject: string;
  readonly messageId: string;
  /** JSON. */
  readonly payload: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: string;
}

export interface Transaction {
  /** MikroORM on the same connection; its changes are flushed before the commit. It opens no savepoint. */
  readonly em: EntityManager;
  /** $1 parameters; an array of JavaScript is an array of Postgres. */
  query<Row>(text: string, parameters?: readonly unknown[]): Promise<readonly Row[]>;
  /**
   * Appends entries and returns the last sequence. From here to the commit other writers of this run wait, so call it as late
   * as possible. Several runs are locked in the order of their ids, so that no two transactions wait for each other: a RangeError
   * where they are not.
   */
  appendLog(runId: RunId, entries: readonly NewLogEntry[], options?: AppendOptions): Promise<number>;
  /** The same for different runs in one statement, without leases. */
  appendLogs(
    logs: readonly {
      readonly runId: RunId;
      readonly entries: readonly NewLogEntry[];
      readonly trace: TraceContext | undefined;
    }[],
  ): Promise<void>;
  /** Throws LEASE_LOST unless the lease's number is current; it is not given away before this transaction ends. */
  requireLease(lease: Lease): Promise<void>;
  /** Writes the message to the outbox. Throws MESSAGE_TOO_LARGE. */
  publish<Schema extends z.ZodObject>(
    contract: MessageContract<Schema>,
    payload: z.input<Schema>,
    options?: PublishOptions,
  ): Promise<void>;
  publishRaw(message: RawMessage): Promise<void>;
  /**
   * Marks the delivery as handled; what this transaction publishes is its answer. Throws DELIVERY_ALREADY_HANDLED, which undoes the
   * transaction, where another delivery of the message was faster.
   */
  completeInbox(messageId: string, stage: string): Promise<void>;
  /** The same for several; what is published says itself which of them it answers. */
  completeInboxes(deliveries: readonly { readonly messageId: string; readonly stage: string }[]): Promise<void>;
}
