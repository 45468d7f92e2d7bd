import type { MessageContract } from '@flotilla/contracts/define-message';
import type { RunId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { z } from 'zod';
import { answerSteps, type StepToAnswer } from './answer-steps.ts';
import { keepEntries, scopeOf } from './append-log.ts';
import { appendLogs, type LogToAppend } from './append-logs.ts';
import { beginDeliveries, type BegunDelivery, type DeliveryToBegin } from './begin-deliveries.ts';
import { findEntries, type EntryToFind } from './find-entries.ts';
import { gather } from './gather.ts';
import type { Lease } from './lease.ts';
import { describeAdded } from './log-advance.ts';
import type { OutboxRow } from './outbox.ts';
import { composeMessage } from './outgoing.ts';
import { settleDeliveries, type DeliveryToSettle } from './settle-deliveries.ts';
import type { Committed, Store, StorePorts } from './store.ts';

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

const atOnce = 256;

export function createGroupedWrites(
  store: Pick<Store, 'query' | 'transaction'>,
  ports: StorePorts,
  tell: (committed: Committed) => void,
): GroupedWrites {
  const begin = gather<DeliveryToBegin, BegunDelivery>({
    together: (deliveries) => beginDeliveries(store, deliveries),
    keyOf: ({ lease, messageId, stage }) => lease?.key ?? `${stage} ${messageId}`,
    limit: atOnce,
  });
  const journal = gather<LogToAppend, number | undefined>({
    together: (logs) => appendLogs(store.query, logs),
    keyOf: ({ runId }) => runId,
    limit: atOnce,
  });
  const answer = gather<StepToAnswer, OutboxRow | undefined>({
    together: (steps) => answerSteps(store, steps),
    keyOf: ({ messageId }) => messageId,
    limit: atOnce,
  });
  const settle = gather<DeliveryToSettle, undefined>({
    together: async (deliveries) => {
      await settleDeliveries(store, deliveries);
      return deliveries.map(() => undefined);
    },
    keyOf: ({ messageId, stage }) => `${stage} ${messageId}`,
    limit: atOnce,
  });
  return {
    beginDelivery: begin,
    settleDelivery: settle,
    hasEntry: gather({
      together: (wanted) => findEntries(store, wanted),
      keyOf: ({ runId, types }) => `${runId} ${types.join(' ')}`,
      limit: atOnce,
    }),
    journal: async (runId, entries, lease) => {
      if (entries.every(({ type }) => scopeOf(type) === 'step')) {
        const kept = await keepEntries(ports.spills, runId, entries);
        const at = ports.clock();
        const last = await journal({ runId, lease, entries: kept, at, trace: ports.traceContext() });
        if (last !== undefined) {
          tell({ outbox: [], advanced: [{ runId, sequence: last, entries: describeAdded(entries, last, at) }] });
          return;
        }
      }
      await store.transaction((transaction) => transaction.appendLog(runId, entries, { lease }));
    },
    answer: async ({ messageId, stage, lease, contract, answer: payload }) => {
      const message = composeMessage(contract, payload, ports.traceContext());
      const row = await answer({ messageId, stage, lease, answer: message });
      if (row !== undefined) return tell({ outbox: [row], advanced: [] });
      await store.transaction(async (transaction) => {
        await transaction.requireLease(lease);
        await transaction.completeInbox(messageId, stage);
        await transaction.publish(contract, payload);
      });
    },
  };
}
