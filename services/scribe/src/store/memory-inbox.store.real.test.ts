import type { ProjectName, RunId } from '@flotilla/contracts/ids';
import { TaskAccepted } from '@flotilla/contracts/events/run-events';
import { migrate } from '@flotilla/store/migrate';
import { openStore } from '@flotilla/store/open-store';
import type { Store } from '@flotilla/store/store';
import { startPostgres, type PostgresServer } from '@flotilla/testing/servers/start-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MemoryProposalEntity, scribeEntities } from './memory-inbox.entity.ts';
import { MemoryInboxStore } from './memory-inbox.store.ts';
import { RunLogStore } from './run-log.store.ts';
import { scribeMigrations } from './scribe-migrations.ts';

let postgres: PostgresServer;
let store: Store;

beforeAll(async () => {
  postgres = await startPostgres();
  await migrate({ databaseUrl: postgres.url, migrations: scribeMigrations });
  store = await openStore({
    databaseUrl: postgres.url,
    applicationName: 'test',
    spills: { put: async () => undefined, get: async () => new Uint8Array() },
    clock: () => new Date('2030-01-01T00:00:00Z'),
    entities: scribeEntities,
  });
});
afterAll(async () => {
  await store.close();
  await postgres.close();
});

const memory = { kind: 'learning', title: 'Slugs', text: 'Their tests are in test.js.' } as const;
const project = 'slugify' as ProjectName;

test('a run proposes one memory however often it is asked, and what a person decided on it stays', async () => {
  const runId = 'run_00000000000000000000000001' as RunId;
  const inbox = new MemoryInboxStore(store, () => new Date('2030-01-01T00:00:00Z'));
  await inbox.propose(runId, project, memory);
  await store.query("update scribe.memory_inbox set state = 'promoted'");
  await inbox.propose(runId, project, { ...memory, text: 'Something else.' });

  const rows = await store.transaction(({ em }) => em.find(MemoryProposalEntity, { runId }));
  expect(rows).toMatchObject([{ project, ...memory, state: 'promoted' }]);
});

test('the log is read in its order, without what no summary is made of', async () => {
  const runId = 'run_00000000000000000000000002' as RunId;
  await store.transaction(async (transaction) => {
    await transaction.appendLog(runId, [
      { type: 'step.requested', payload: { verb: 'open' } },
      { type: 'task.accepted', payload: TaskAccepted.payload.parse(TaskAccepted.example) },
    ]);
  });
  expect((await new RunLogStore(store).read(runId)).map(({ type }) => type)).toEqual(['task.accepted']);
});
