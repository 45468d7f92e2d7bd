import { answerSteps, type StepToAnswer } from './answer-steps.ts';
import { keepEntries, scopeOf } from './append-log.ts';
import { appendLogs, type LogToAppend } from './append-logs.ts';
import { beginDeliveries, type BegunDelivery, type DeliveryToBegin } from './begin-deliveries.ts';
import { findEntries } from './find-entries.ts';
import { gather } from './gather.ts';
import type { GroupedWrites } from './grouped.ts';
import { describeAdded } from './log-advance.ts';
import type { OutboxRow } from './outbox.ts';
import { composeMessage } from './outgoing.ts';
import { settleDeliveries, type DeliveryToSettle } from './settle-deliveries.ts';
import type { Committed, Store, StorePorts } from './store.ts';

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
