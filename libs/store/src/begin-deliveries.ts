import type { InboxState } from './inbox.ts';
import { type Lease, leaseIsHeld } from './lease.ts';
import type { Queries } from './queries.ts';

export interface DeliveryToBegin {
  readonly messageId: string;
  readonly stage: string;
  /** Taken with it where there is one. */
  readonly lease?: { readonly key: string; readonly holder: string; readonly ttlMs: number };
}

export type BegunDelivery =
  /** Somebody holds the lease; nothing was noted. */
  { readonly kind: 'held' } | { readonly kind: 'begun'; readonly lease: Lease | undefined; readonly inbox: InboxState };

interface BegunRow extends InboxState {
  readonly place: number;
  readonly fence: string | null;
}

/** Takes the leases and notes that deliveries begin, each as `acquireLease` and `recordDelivery` would; of different messages and keys. */
export async function beginDeliveries(
  store: Queries,
  deliveries: readonly DeliveryToBegin[],
): Promise<readonly BegunDelivery[]> {
  const rows = await store.query<BegunRow>(
    `with given as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[])
         with ordinality as given (message_id, stage, key, holder, ttl, place)),
     lease as (
       insert into flow.lease as lease (key, holder, fence, expires_at)
       select key, holder, nextval('flow.fence'), clock_timestamp() + ttl * interval '1 millisecond'
         from given where key is not null order by key
       on conflict (key) do update
          set holder = excluded.holder, fence = excluded.fence, expires_at = excluded.expires_at
        where not ${leaseIsHeld}
       returning key, fence),
     delivery as (
       insert into flow.inbox as inbox (message_id, stage, deliveries, open)
       select message_id, stage, 1, 1 from given
        where key is null or key in (select key from lease) order by message_id, stage
       on conflict (message_id, stage) do update
          set deliveries = inbox.deliveries + 1,
              open = inbox.open + case when inbox.handled_at is null then 1 else 0 end,
              last_delivery_at = clock_timestamp()
       returning message_id, stage, handled_at is not null as handled, failures, deliveries, open)
     select place::integer, fence, handled, failures, deliveries, open
       from delivery join given using (message_id, stage) left join lease using (key)`,
    [
      deliveries.map(({ messageId }) => messageId),
      deliveries.map(({ stage }) => stage),
      deliveries.map(({ lease }) => lease?.key ?? null),
      deliveries.map(({ lease }) => lease?.holder ?? null),
      deliveries.map(({ lease }) => lease?.ttlMs ?? null),
    ],
  );
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return deliveries.map(({ lease }, index): BegunDelivery => {
    const row = byPlace.get(index + 1);
    if (row === undefined) return { kind: 'held' };
    const { handled, failures, deliveries: count, open, fence } = row;
    return {
      kind: 'begun',
      lease: lease === undefined ? undefined : { key: lease.key, holder: lease.holder, fence: Number(fence) },
      inbox: { handled, failures, deliveries: count, open },
    };
  });
}
