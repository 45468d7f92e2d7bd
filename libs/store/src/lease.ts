import type { Queries } from './queries.ts';

/** A time-limited claim. `fence` grows with every grant of a key, so that a late writer is told from the holder. */
export interface Lease {
  readonly key: string;
  readonly holder: string;
  readonly fence: number;
}

/**
 * Says in SQL that a lease is held. None is given for as long as five minutes: one that ends later was given before the clock of
 * the database went back, and a holder that lived would have renewed it since.
 */
export const leaseIsHeld =
  "(lease.expires_at > clock_timestamp() and lease.expires_at <= clock_timestamp() + interval '5 minutes')";

/** Key of the lease that an attempt of a step runs under. */
export function stepLeaseKey(step: {
  readonly runId: string;
  readonly stepId: string;
  readonly attempt: number;
}): string {
  return `step/${step.runId}/${step.stepId}/${step.attempt}`;
}

/**
 * Takes a free or expired lease; undefined while somebody holds it, also where that is `holder` itself. Time is the
 * database's. `holder` names a process, never reused after a restart.
 */
export async function acquireLease(
  store: Queries,
  key: string,
  holder: string,
  ttlMs: number,
): Promise<Lease | undefined> {
  const [row] = await store.query<{ fence: string }>(
    `insert into flow.lease as lease (key, holder, fence, expires_at)
     values ($1, $2, nextval('flow.fence'), clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (key) do update
        set holder = excluded.holder, fence = excluded.fence, expires_at = excluded.expires_at
      where not ${leaseIsHeld}
     returning fence`,
    [key, holder, ttlMs],
  );
  return row === undefined ? undefined : { key, holder, fence: Number(row.fence) };
}

/** Extends a lease; false when it was given to somebody else or released. An expired lease that nobody took is still good. */
export async function renewLease(store: Queries, { key, fence }: Lease, ttlMs: number): Promise<boolean> {
  const rows = await store.query(
    `update flow.lease set expires_at = clock_timestamp() + $3 * interval '1 millisecond'
      where key = $1 and fence = $2 returning 1`,
    [key, fence, ttlMs],
  );
  return rows.length === 1;
}

/** Gives a lease back at once. Safe to repeat; a lease that was lost is left alone. */
export async function releaseLease(store: Queries, { key, fence }: Lease): Promise<void> {
  await store.query('delete from flow.lease where key = $1 and fence = $2', [key, fence]);
}
