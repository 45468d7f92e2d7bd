import { startPostgres } from '@flotilla/testing/servers/start-postgres';
import { expect, test } from 'vitest';
import { migrate } from './migrate.ts';
import { openStore } from './open-store.ts';
import { createMemorySpills } from './store.fixture.ts';

test('a lost Postgres is an error that is waited out, and the store goes on once it is back', async () => {
  const postgres = await startPostgres({ private: true });
  const options = {
    databaseUrl: postgres.url,
    spills: createMemorySpills(),
    applicationName: 'test',
    clock: () => new Date(0),
    poolSize: 2,
  };
  await expect(openStore(options)).rejects.toMatchObject({ code: 'STORE_NOT_MIGRATED', remedy: 'wait' });
  await migrate({ databaseUrl: postgres.url });
  const store = await openStore(options);
  await store.query('select 1');

  const unavailable = { code: 'STORE_UNAVAILABLE', remedy: 'wait' };
  const interrupted = store.transaction(async (transaction) => {
    await transaction.query('select 1');
    await postgres.kill();
    await transaction.query('select 1');
  });
  await expect(interrupted).rejects.toMatchObject(unavailable);
  await expect(store.query('select 1')).rejects.toMatchObject(unavailable);
  await expect(store.transaction(() => Promise.resolve())).rejects.toMatchObject(unavailable);
  await expect(openStore(options)).rejects.toMatchObject(unavailable);

  await postgres.start();
  const poolIsWhole = Array.from({ length: 2 }, () =>
    store.transaction((transaction) => transaction.query('select 1')),
  );
  await Promise.all(poolIsWhole);
  expect(await store.query('select 1 as one')).toEqual([{ one: 1 }]);
  await store.close();
  await postgres.close();
});
