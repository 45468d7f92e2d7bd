import { migrate } from '@flotilla/store/migrate';
import { startPostgres } from '@flotilla/testing/servers/start-postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routerMigrations } from './router-migrations.ts';

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let database: pg.Client;
beforeAll(async () => {
  postgres = await startPostgres();
  database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await postgres?.close();
});

const before = (name: string) =>
  routerMigrations.slice(
    0,
    routerMigrations.findIndex((migration) => migration.name === name),
  );

test('runs of a version that knew no repository of a key get that of their project, and archived ones keep their keys', async () => {
  await migrate({ databaseUrl: postgres.url, migrations: before('router-005-keys-of-a-repository') });
  const facts = (remote: string) => ({
    goal: 'Read "remote":"/not/this.git" and \\ "remote" : "/nor/this.git".\u0000',
    project: { name: 'shop', remote },
    known: { feedback: [{ text: '"remote":"/nor/that.git"' }] },
  });
  const rows: readonly (readonly [id: string, key: string | null, facts: object | null])[] = [
    ['run_plain', 'ticket-1', facts('https://git.example.com/acme/shop.git')],
    ['run_odd', 'ticket-2', facts('/srv/a "quoted" path\\of.git')],
    ['run_without_key', null, facts('/srv/shop.git')],
    ['run_archived', 'ticket-3', null],
  ];
  for (const [id, key, kept] of rows)
    await database.query(
      `insert into router.run (id, project, external_key, fingerprint, retries, goal, topology, mode, principal, state, requests,
                               deadline_at, result, budget, spent, facts, slip, created_at, ended_at, archived_at, archive)
       values ($1, 'shop', $2, 'f', 0, 'g', 't', 'auto', 'ann', 'ended', 0, now(), 'failed', '{}', '{}', $3::json, $4::json, now(), now(), $5, $6)`,
      [
        id,
        key,
        kept === null ? null : JSON.stringify(kept),
        kept === null ? null : '{}',
        kept === null ? new Date() : null,
        kept === null ? 'a.gz' : null,
      ],
    );
  await migrate({ databaseUrl: postgres.url, migrations: routerMigrations });
  const { rows: found } = await database.query('select id, remote from router.run order by id');
  expect(found).toEqual([
    { id: 'run_archived', remote: null },
    { id: 'run_odd', remote: '/srv/a "quoted" path\\of.git' },
    { id: 'run_plain', remote: 'https://git.example.com/acme/shop.git' },
    { id: 'run_without_key', remote: null },
  ]);
});
