import type { Queries } from './queries.ts';

/** What is known of a message at one stage. */
export interface InboxState {
  readonly handled: boolean;
  /** Attempts that failed; waiting is not counted. */
  readonly failures: number;
  readonly deliveries: number;
  /** Deliveries that began and were never settled, by a dead process or by one still at work. */
  readonly open: number;
}

const unknown: InboxState = { handled: false, failures: 0, deliveries: 0, open: 0 };
const columns = 'handled_at is not null as handled, failures, deliveries, open';

export async function readInbox(store: Queries, messageId: string, stage: string): Promise<InboxState> {
  const [row] = await store.query<InboxState>(
    `select ${columns} from flow.inbox where message_id = $1 and stage = $2`,
    [messageId, stage],
  );
  return row ?? unknown;
}

/** Notes that a delivery begins. `open` then counts this one too, unless the message was handled before. */
export async function recordDelivery(store: Queries, messageId: string, stage: string): Promise<InboxState> {
  const [row] = await store.query<InboxState>(
    `insert into flow.inbox as inbox (message_id, stage, deliveries, open) values ($1, $2, 1, 1)
     on conflict (message_id, stage) do update
        set deliveries = inbox.deliveries + 1,
            open = inbox.open + case when inbox.handled_at is null then 1 else 0 end,
            last_delivery_at = clock_timestamp()
     returning ${columns}`,
    [messageId, stage],
  );
  return row ?? unknown;
}

/** Settles a delivery that was put off at no cost. */
export async function recordPutOff(store: Queries, messageId: string, stage: string): Promise<void> {
  await store.query(
    'update flow.inbox set open = greatest(open - 1, 0) where message_id = $1 and stage = $2 and handled_at is null',
    [messageId, stage],
  );
}

/** Settles a delivery that failed and returns how many failed by now. */
export async function recordFailure(store: Queries, messageId: string, stage: string): Promise<number> {
  const [row] = await store.query<{ failures: number }>(
    `update flow.inbox set open = greatest(open - 1, 0), failures = failures + 1
      where message_id = $1 and stage = $2 and handled_at is null returning failures`,
    [messageId, stage],
  );
  return row?.failures ?? 0;
}
