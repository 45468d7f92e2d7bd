import type { TraceContext } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely, type Transaction as KyselyTransaction } from 'kysely';
import { createGroupedWrites } from './grouped-writes.ts';
import { PostgresTransaction } from './postgres-transaction.ts';
import { readLog } from './read-log.ts';
import type { Spills } from './spills.ts';
import type { Committed, Store, StorePorts } from './store.ts';
import { translating } from './translate-error.ts';

export interface OpenStoreOptions {
  readonly databaseUrl: string;
  /** Connections at most; default 10. */
  readonly poolSize?: number;
  readonly spills: Spills;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly clock: () => Date;
  /** Default: no trace. */
  readonly traceContext?: () => TraceContext | undefined;
  /** Entities of the services' own tables. Default: none. */
  readonly entities?: readonly EntitySchema[];
}

const connectTimeoutMs = 5_000;
/** A process that stalls inside a transaction gives the rows it locked back after this time. */
const stalledTransactionMs = 30_000;

/** Connects to a migrated database. Throws STORE_UNAVAILABLE or STORE_NOT_MIGRATED, which a starting service waits out. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const orm = await MikroORM.init({
    clientUrl: options.databaseUrl,
    entities: [...(options.entities ?? [])],
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: options.poolSize ?? 10, idleTimeoutMillis: 30_000 },
    driverOptions: {
      application_name: options.applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      idle_in_transaction_session_timeout: stalledTransactionMs,
    },
    logger: () => undefined,
    ensureDatabase: false,
  });
  const store = createStore(orm, {
    spills: options.spills,
    clock: options.clock,
    traceContext: options.traceContext ?? (() => undefined),
  });
  try {
    await requireMigrated(store);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

function createStore(orm: MikroORM, ports: StorePorts): Store {
  const listeners = new Set<(committed: Committed) => void>();
  let open = true;
  const connect = () => {
    if (!open) throw new FlotillaError(errors.storeUnavailable, { reason: 'this process has closed its store' });
    return orm.em.getConnection().getClient();
  };
  const query: Store['query'] = <Row>(text: string, parameters: readonly unknown[] = []) =>
    translating(async () => {
      const { rows } = await connect().executeQuery(CompiledQuery.raw(text, [...parameters]));
      return rows as Row[]; // the statement decides the shape of its rows
    });
  const tell = (committed: Committed): void => {
    if (committed.outbox.length > 0 || committed.advanced.length > 0)
      for (const listener of listeners) listener(committed);
  };
  const transaction: Store['transaction'] = async (work) => {
    const { value, committed } = await translating(() =>
      transact(connect(), async (context) => {
        const em = orm.em.fork();
        em.setTransactionContext(context);
        const transaction = new PostgresTransaction(em, ports);
        const value = await work(transaction);
        await em.flush();
        return { value, committed: await transaction.flush() };
      }),
    );
    tell(committed);
    return value;
  };
  return {
    orm,
    query,
    transaction,
    grouped: createGroupedWrites({ query, transaction }, ports, tell),
    readLog: (runId, options) => readLog(query, ports.spills, runId, options),
    traceContext: ports.traceContext,
    onCommitted: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      open = false;
      await orm.close(true);
    },
  };
}

/**
 * MikroORM's own `transactional` never gives a connection back whose begin or rollback failed, so that each loss of Postgres under
 * load would cost the pool for ever; Kysely's callback form always does. It reports a failed rollback; here the first error counts.
 */
async function transact<T>(
  kysely: Kysely<unknown>,
  work: (context: KyselyTransaction<unknown>) => Promise<T>,
): Promise<T> {
  let first: { readonly error: unknown } | undefined;
  try {
    return await kysely.transaction().execute(async (context) => {
      try {
        return await work(context);
      } catch (error) {
        first = { error };
        throw error;
      }
    });
  } catch (error) {
    throw first === undefined ? error : first.error;
  }
}

async function requireMigrated(store: Store): Promise<void> {
  const [row] = await store.query<{ found: string | null }>("select to_regclass('flow.lease')::text as found");
  if (row?.found == null) throw new FlotillaError(errors.storeNotMigrated, { table: 'flow.lease' });
}
