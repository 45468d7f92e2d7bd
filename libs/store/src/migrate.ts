import { Migration, Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { CompiledQuery } from 'kysely';
import { flowMigrations } from './flow-migrations.ts';
import type { SqlMigration } from './sql-migration.ts';
import { translateError } from './translate-error.ts';

export type { SqlMigration } from './sql-migration.ts';

export interface MigrateOptions {
  readonly databaseUrl: string;
  /** The services' own migrations; the `flow` schema comes first by itself. */
  readonly migrations?: readonly SqlMigration[];
}

/** Held while migrations run, so that processes which start together do it one after the other. */
const MIGRATION_LOCK = 7_305_114_201;

/** Brings the database up to date and returns the names of the migrations that were applied. Safe to repeat and to run at once. */
export async function migrate({ databaseUrl, migrations = [] }: MigrateOptions): Promise<readonly string[]> {
  const orm = await MikroORM.init({
    clientUrl: databaseUrl,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    pool: { min: 0, max: 3 },
    migrations: {
      tableName: 'flotilla_migrations',
      snapshot: false,
      allOrNothing: false,
      silent: true,
      migrationsList: [...flowMigrations, ...migrations].map(({ name, up }) => ({ name, class: migrationClass(up) })),
    },
  });
  try {
    return await orm.em.fork().transactional(async (em) => {
      await run(em, 'select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      await requireUtf8(em);
      const applied = await orm.migrator.up();
      return applied.map(({ name }) => name);
    });
  } catch (error) {
    throw translateError(error);
  } finally {
    await orm.close(true);
  }
}

function migrationClass(
  statements: readonly string[],
): new (...args: ConstructorParameters<typeof Migration>) => Migration {
  return class extends Migration {
    override up(): void {
      for (const statement of statements) this.addSql(statement);
    }
  };
}

async function requireUtf8(em: EntityManager): Promise<void> {
  const [row] = await run<{ server_encoding: string }>(em, 'show server_encoding');
  if (row !== undefined && row.server_encoding !== 'UTF8') {
    throw new FlotillaError(errors.storeEncodingUnusable, { encoding: row.server_encoding });
  }
}

async function run<Row>(em: EntityManager, text: string, parameters: readonly unknown[] = []): Promise<readonly Row[]> {
  const result = await em.getKysely().executeQuery(CompiledQuery.raw(text, [...parameters]));
  return result.rows as Row[]; // the statement decides the shape of its rows
}
