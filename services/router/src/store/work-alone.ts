import { acquireLease, releaseLease, renewLease } from '@flotilla/store/lease';
import type { Queries } from '@flotilla/store/queries';

/** Somebody else takes over this long after the death of whoever was at work. */
const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

/** Runs work while nobody else holds the key. Undefined, and nothing done, where somebody does. */
export type WorkAlone = <T>(key: string, work: () => Promise<T>) => Promise<T | undefined>;

/** The lease saves work and decides nothing: whoever loses it does no harm by going on. */
export function createWorkAlone(store: Queries, holder: string): WorkAlone {
  return async (key, work) => {
    const lease = await acquireLease(store, key, holder, LEASE_MS);
    if (lease === undefined) return undefined;
    // Where it is not renewed in time, another may begin the same work.
    const timer = setInterval(() => void renewLease(store, lease, LEASE_MS).catch(() => undefined), RENEW_EVERY_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      // It ends by itself where Postgres is lost, and what the work came to counts.
      await releaseLease(store, lease).catch(() => undefined);
    }
  };
}
