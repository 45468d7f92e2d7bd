import type { Lease } from './lease.ts';
import type { Queries } from './queries.ts';

export interface DeliveryToSettle {
  readonly messageId: string;
  readonly stage: string;
  /** Given back with it. */
  readonly lease: Lease | undefined;
}

/** Settles deliveries of different messages that did not fail, and gives their leases back. Safe to repeat. */
export async function settleDeliveries(store: Queries, deliveries: readonly DeliveryToSettle[]): Promise<void> {
  await store.query(
    `with given as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (message_id, stage, key, fence)),
     ended as (
       update flow.inbox as inbox set open = greatest(inbox.open - 1, 0) from given
        where inbox.message_id = given.message_id and inbox.stage = given.stage and inbox.handled_at is null)
     delete from flow.lease using given where lease.key = given.key and lease.fence = given.fence`,
    [
      deliveries.map(({ messageId }) => messageId),
      deliveries.map(({ stage }) => stage),
      deliveries.map(({ lease }) => lease?.key ?? null),
      deliveries.map(({ lease }) => lease?.fence ?? null),
    ],
  );
}
