import { createPublishedViews } from '@flotilla/gateway/views/published-views';
import { ArchiveStore } from '@flotilla/router/store/archive.store';
import { ann, createRouterFixture, type RouterFixture } from '@flotilla/router/store/router.fixture';
import { GateId, ProjectName, RunId } from '@flotilla/contracts/ids';
import { pruneFlow, readOutboxLag, takeUnpublished } from '@flotilla/store/outbox';
import { afterAll, beforeAll, expect, test } from 'vitest';

const finished = 100_000;
/** Rows of history that one operation may look at: a page and what belongs to it. */
const rowsAtMost = 2_000;
const history = ['router.run', 'router.gate', 'flow.log', 'flow.cursor', 'flow.outbox', 'flow.inbox'];
/** Ids of history come after those of the runs under way, so that a list from its end on meets all of history first. */
const idOf = (kind: string) => `'${kind}_1' || lpad(n::text, 25, '0')`;

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
  await fillHistory();
  // Work under way beside it, which statistics hardly tell of.
  for (let place = 0; place < 20; place += 1) await fixture.submit();
  await fixture.store.query('analyze');
}, 300_000);
afterAll(() => fixture.close());

async function fillHistory() {
  const { store } = fixture;
  const sample = await fixture.submit();
  await fixture.runs.cancel(sample, ann);
  const numbers = `generate_series(1, ${finished}) as n`;
  await store.query(
    `insert into router.run (id, project, external_key, intake_id, fingerprint, retries, goal, topology, mode, principal, state, requests,
                             deadline_at, result, budget, spent, facts, slip, created_at, ended_at)
     select ${idOf('run')}, project, 'key ' || n, 'intake ' || n, fingerprint, 0, goal, topology, mode, principal, 'ended', 0, now(),
            case when n % 10000 = 0 then 'declined' when n % 7 = 0 then 'failed' else 'landed' end, budget, spent, '{}', '{}', now() - interval '30 days',
            now() - interval '29 days' + n * interval '1 second'
       from router.run, ${numbers} where id = $1`,
    [sample],
  );
  await store.query(
    `insert into router.gate (id, run_id, step_id, question, commit, change, state, opened_at, decided_at, decision, decided_by)
     select ${idOf('gate')}, ${idOf('run')}, 'approve', 'Land?', repeat('a', 40), $1, 'decided', now(), now(), 'approve', 'ann' from ${numbers}`,
    [
      JSON.stringify({
        commit: 'a'.repeat(40),
        tree: 'b'.repeat(40),
        base: 'c'.repeat(40),
        bundle: 'x',
        diffIdentity: 'x',
        files: [],
      }),
    ],
  );
  await store.query(`insert into flow.cursor (run, last) select ${idOf('run')}, 6 from ${numbers}`);
  await store.query(
    `insert into flow.log (run, sequence, step, attempt, type, payload, at)
     select ${idOf('run')}, s, 'build', 1, case s when 6 then 'run.ended' else 'noted' end, '{}', now() from ${numbers}, generate_series(1, 6) as s`,
  );
  await store.query(
    `insert into flow.outbox (message_id, subject, payload, headers, cause, created_at, published_at)
     select ${idOf('run')} || '/' || m, 'flotilla.step.completed', '{}', '{}', ${idOf('run')} || m, now(), now() from ${numbers}, generate_series(1, 3) as m`,
  );
  await store.query(
    `insert into flow.inbox (message_id, stage, deliveries, handled_at)
     select ${idOf('run')} || '/' || m, 'StepCompleted', 1, now() from ${numbers}, generate_series(1, 3) as m`,
  );
}

/** Rows of history that were read since the database was made, as Postgres itself counts them, by how they were found. */
async function countReads() {
  // What this connection read is counted once it is told to.
  const rows = await fixture.store.transaction(async ({ query }) => {
    await query('select pg_stat_clear_snapshot()');
    return query<{ name: string; whole: number; rows: number }>(
      `select schemaname || '.' || relname as name, coalesce(seq_tup_read, 0)::float8 as whole, coalesce(idx_tup_fetch, 0)::float8 as rows
         from pg_stat_user_tables where schemaname || '.' || relname = any($1::text[])`,
      [history],
    );
  });
  return new Map(rows.map((row) => [row.name, row]));
}

/** Has every connection of the pool tell what it read; each is held until the others are asked too. */
async function settleCounts() {
  await Promise.all(
    Array.from({ length: 10 }, () => fixture.store.query('select pg_stat_force_next_flush(), pg_sleep(0.05)')),
  );
}

const page = { limit: 50 };
const somebody = RunId.parse(`run_1${String(finished / 2).padStart(25, '0')}`);
const gate = GateId.parse(`gate_1${String(finished / 2).padStart(25, '0')}`);
const project = ProjectName.parse('slugify');
const absent = ProjectName.parse('absent');
const views = () => createPublishedViews(fixture.store);

test.each<readonly [string, () => Promise<unknown>]>([
  [
    'a task becomes a run, and its first steps are taken',
    async () => fixture.until(await fixture.submit({ externalKey: 'new' }), 'plan'),
  ],
  ['a run goes to its gate, is approved, lands and ends', async () => fixture.until(await fixture.submit(), 'land')],
  [
    'a task with the key of a finished run is given that run',
    () => fixture.submit({ externalKey: 'key 77', goal: 'Keep digits.' }).catch(() => undefined),
  ],
  ['the sweep for what nobody did', () => fixture.sweep.findDue()],
  ['the count of open gates', () => fixture.sweep.countOpenGates()],
  ['the sweep of the outbox', () => takeUnpublished(fixture.store, { olderThanMs: 2_000, limit: 100 })],
  ['the lag of the outbox', () => readOutboxLag(fixture.store)],
  ['the pruning of what is young', () => pruneFlow(fixture.store, { days: 30 })],
  ['the search for runs to archive', () => new ArchiveStore(fixture.store, fixture.clock).findDue(new Date(0), 100)],
  [
    'the search for the oldest runs to archive',
    () => new ArchiveStore(fixture.store, fixture.clock).findDue(new Date(Date.now() + 1e9), 100),
  ],
  [
    'the search for objects left in the buckets',
    () => new ArchiveStore(fixture.store, fixture.clock).findLeftovers(100),
  ],
  ['the first page of runs', () => views().listRuns(page)],
  ['a page of runs in the middle', () => views().listRuns({ ...page, before: somebody })],
  ['the first page of a project', () => views().listRuns({ ...page, project })],
  ['the list of a project without runs', () => views().listRuns({ ...page, project: absent })],
  ['the list of runs under way', () => views().listRuns({ ...page, state: 'running' })],
  ['the list of runs at their gates', () => views().listRuns({ ...page, state: 'at_gate' })],
  ['the list of a rare result', () => views().listRuns({ ...page, result: 'declined' })],
  ['the list of a result that no run has', () => views().listRuns({ ...page, result: 'limit_reached' })],
  ['the list of a rare result of a project', () => views().listRuns({ ...page, project, result: 'declined' })],
  [
    'the list of a result of a project without runs',
    () => views().listRuns({ ...page, project: absent, result: 'landed' }),
  ],
  ['one run', () => views().findRun(somebody)],
  [
    'the opening of a watch',
    () =>
      Promise.all([
        views().findRun(somebody),
        views().lastSequence(somebody),
        fixture.store.readLog(somebody, { limit: 100 }),
      ]),
  ],
  ['the end of a run', () => fixture.store.grouped.hasEntry({ runId: somebody, types: ['run.ended'] })],
  ['the open gates', () => views().listGates({ ...page, state: 'open' })],
  ['the open gates of a project', () => views().listGates({ ...page, state: 'open', project: absent })],
  ['the decided gates of a run', () => views().listGates({ ...page, state: 'decided', runId: somebody })],
  ['the first page of decided gates', () => views().listGates({ ...page, state: 'decided' })],
  ['one gate', () => views().findGate(gate)],
  [
    'the setups of runs under way',
    () => fixture.store.query('select 1 from published.setup_in_use where key = $1 limit 1', ['x']),
  ],
])('%s reads no table of history from end to end, and few rows of it', async (_, work) => {
  await settleCounts();
  const before = await countReads();
  await work();
  await settleCounts();
  const read = [...(await countReads())].map(([name, { whole, rows }]) => ({
    name,
    whole: whole - (before.get(name)?.whole ?? 0),
    rows: rows - (before.get(name)?.rows ?? 0),
  }));
  expect(read.filter(({ whole, rows }) => whole > 0 || rows > rowsAtMost)).toEqual([]);
});
