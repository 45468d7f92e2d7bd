import type { RunId, StepId, TraceContext } from '@flotilla/contracts/ids';
import { startPostgres } from '@flotilla/testing/servers/start-postgres';
import { migrate } from './migrate.ts';
import { openStore } from './open-store.ts';
import type { Spills } from './spills.ts';
import type { Store } from './store.ts';

/** Spills of a test: a map instead of a bucket. */
export function createMemorySpills(): Spills & { readonly kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    put: (name, bytes) => Promise.resolve(void kept.set(name, bytes)),
    get: (name) => Promise.resolve(kept.get(name) ?? new Uint8Array()),
  };
}

/** A migrated database and stores on it, each as another process would open it. */
export async function createStoreFixture() {
  const postgres = await startPostgres();
  await migrate({ databaseUrl: postgres.url });
  const spills = createMemorySpills();
  const stores: Store[] = [];
  const open = async (
    options: { traceContext?: () => TraceContext | undefined; poolSize?: number } = {},
  ): Promise<Store> => {
    const store = await openStore({
      databaseUrl: postgres.url,
      spills,
      applicationName: 'test',
      clock: () => new Date('2030-01-01T00:00:00.000Z'),
      poolSize: 4,
      ...options,
    });
    stores.push(store);
    return store;
  };
  return {
    url: postgres.url,
    spills,
    open,
    store: await open(),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await postgres.close();
    },
  };
}

let runs = 0;
/** A run id that no other test uses; later ones sort after earlier ones. */
export function nextRunId(): RunId {
  runs += 1;
  return `run_${String(runs).padStart(26, '0')}` as RunId; // made to match the pattern of RunId
}

export const buildStep = 'build' as StepId; // matches the pattern of StepId
