import { PublishedRun } from '@flotilla/contracts/calls/published-views';
import { ArchiveRuns } from '@flotilla/contracts/calls/archive-runs';
import { REMOVE_BASE_AFTER_MS } from '@flotilla/contracts/streams';
import type { RunId } from '@flotilla/contracts/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ann } from '../store/router.fixture.ts';
import { createWorkAlone } from '../store/work-alone.ts';
import { type ArchiveFixture, createArchiveFixture } from './archive.fixture.ts';
import { ArchiveRunsCall } from './archive-runs.ts';
import { ArchiveSweeper } from './archive-sweeper.ts';
import { cleanBuckets } from './clean-buckets.ts';
import { RunArchiver } from './run-archiver.ts';

const days = (count: number) => count * 24 * 3600;
const base = (digit: string) => `base/${digit.repeat(40)}`;

let fixture: ArchiveFixture;
let archived: RunId[];
let sweepers = 0;
const troubles: unknown[] = [];
beforeAll(async () => {
  fixture = await createArchiveFixture();
});
beforeEach(() => {
  archived = [];
});
afterAll(() => fixture.close());

const createSweeper = (archiver = fixture.archiver, afterDays: number | 'never' = 90) =>
  new ArchiveSweeper({
    archives: fixture.archives,
    archiver,
    cleanBuckets: () => Promise.resolve(),
    afterDays: afterDays === 'never' ? undefined : afterDays,
    clock: fixture.clock,
    everyMs: 20,
    betweenMs: 0,
    alone: createWorkAlone(fixture.store, `sweeper-${(sweepers += 1)}`),
    onArchived: (runId) => archived.push(runId),
    onTrouble: (task, error) => troubles.push([task, error]),
  });
const stateOf = async (runId: RunId) =>
  (await fixture.readView(PublishedRun, 'run', 'run_id = $1', [runId]))[0]?.archived_at === null ? 'kept' : 'archived';

test('runs are archived by their age, the oldest first, and no other', async () => {
  const first = await fixture.makeEnded();
  fixture.passTime(days(1));
  const second = await fixture.makeEnded();
  fixture.passTime(days(88));
  const [young, running] = [await fixture.makeEnded(), await fixture.submit()];
  await createSweeper().sweep();
  expect(archived).toEqual([]);
  fixture.passTime(days(1) + 1);
  await createSweeper(fixture.archiver, 'never').sweep();
  expect(archived).toEqual([]);
  await createSweeper().sweep();
  expect(archived).toEqual([first]);
  fixture.passTime(days(1));
  const both = [createSweeper(), createSweeper()];
  await Promise.all(both.map((sweeper) => sweeper.sweep()));
  expect(archived).toEqual([first, second]);
  expect([await stateOf(young), await stateOf(running)]).toEqual(['kept', 'kept']);
  await fixture.runs.cancel(running, ann);
});

test('what a router left in the buckets when it died is taken out by the next', async () => {
  const runId = await fixture.makeEnded([{ text: 'x'.repeat(40_000) }]);
  const dying = new RunArchiver({
    ...fixture.ports,
    changes: { get: (name) => fixture.changes.get(name), delete: () => Promise.reject(new Error('died')) },
  });
  await expect(dying.archive(runId)).rejects.toThrow('died');
  expect((await fixture.changes.list(runId)).length).toBeGreaterThan(0);
  await createSweeper().sweep();
  expect([...(await fixture.changes.list(runId)), ...(await fixture.spills.list(runId))]).toEqual([]);
  expect(await fixture.archives.findLeftovers(10)).toEqual([]);
});

test('a run that cannot be archived keeps no other from it, and does not make it go round in haste', async () => {
  const [first, second] = [await fixture.makeEnded(), await fixture.makeEnded()];
  fixture.passTime(days(91));
  const archive = (runId: RunId) =>
    runId === first ? Promise.reject(new Error('full')) : fixture.archiver.archive(runId);
  const archiver = Object.assign(Object.create(fixture.archiver) as RunArchiver, {
    archive,
    removeObjects: () => Promise.resolve(),
  });
  expect(await createSweeper(archiver).sweep()).toBe(false);
  expect([await stateOf(first), await stateOf(second)]).toEqual(['kept', 'archived']);
  expect(troubles.splice(0)).toMatchObject([['archive_run', { message: 'full' }]]);
});

test('runs that cannot be archived make way for the ones behind them, and are tried again a day later', async () => {
  const tried: RunId[] = [];
  const poison = await Promise.all(Array.from({ length: 100 }, () => fixture.submit()));
  for (const runId of poison) await fixture.runs.cancel(runId, ann);
  fixture.passTime(1);
  const behind = await fixture.makeEnded();
  fixture.passTime(days(91));
  const archiver = Object.assign(Object.create(fixture.archiver) as RunArchiver, {
    archive: (runId: RunId) => {
      tried.push(runId);
      return poison.includes(runId) ? Promise.reject(new Error('full')) : fixture.archiver.archive(runId);
    },
    removeObjects: () => Promise.resolve(),
  });
  const sweeper = createSweeper(archiver);
  await sweeper.sweep();
  await sweeper.sweep();
  expect(await stateOf(behind)).toBe('archived');
  tried.length = 0;
  await sweeper.sweep();
  expect(tried.filter((runId) => poison.includes(runId))).toEqual([]);
  fixture.passTime(days(1));
  await sweeper.sweep();
  expect(tried.filter((runId) => poison.includes(runId))).toHaveLength(100);
  troubles.length = 0;
  for (const runId of poison) await fixture.archiver.archive(runId);
});

test('a sweeper goes on by itself until it is stopped', async () => {
  const sweeper = createSweeper();
  sweeper.onApplicationBootstrap();
  const runId = await fixture.makeEnded();
  fixture.passTime(days(91));
  await expect.poll(() => stateOf(runId)).toBe('archived');
  await sweeper.onApplicationShutdown();
  expect(troubles).toEqual([]);
});

test('objects of archived runs that no log told of go, and those of others and of runs that nobody knows stay', async () => {
  const [gone, kept] = [await fixture.makeEnded(), await fixture.makeEnded()];
  await fixture.archiver.archive(gone);
  const unknown = `run_${'9'.repeat(26)}`;
  for (const runId of [gone, kept, unknown]) {
    await fixture.changes.put(`${runId}/untold`, Buffer.from('x'));
    await fixture.spills.put(`${runId}/untold`, Buffer.from('x'));
  }
  const ports = { archives: fixture.archives, changes: fixture.changes, spills: fixture.spills, clock: fixture.clock };
  expect(await cleanBuckets(ports)).toBe(2);
  for (const [runId, count] of [
    [gone, 0],
    [kept, 2],
    [unknown, 2],
  ] as const) {
    const names = [...(await fixture.changes.list(runId)), ...(await fixture.spills.list(runId))];
    expect(names.filter((name) => name.endsWith('/untold'))).toHaveLength(count);
  }
});

test('a base goes once it is old and no run that is not archived knows its commit', async () => {
  const now = { at: Date.now() };
  const ports = {
    archives: fixture.archives,
    changes: fixture.changes,
    spills: fixture.spills,
    clock: () => new Date(now.at),
  };
  const bases = async () => (await fixture.changes.list('base/')).toSorted();
  const running = await fixture.submit();
  await fixture.until(running, 'gate');
  // Runs of the fixture begin at the commit of the digit a.
  for (const digit of ['a', '7']) await fixture.changes.put(base(digit), Buffer.from(digit));
  await cleanBuckets(ports);
  expect(await bases()).toEqual([base('7'), base('a')]);
  now.at += REMOVE_BASE_AFTER_MS + 1000;
  expect(await cleanBuckets(ports)).toBe(1);
  expect(await bases()).toEqual([base('a')]);
});

test('a request without runs and an age is refused where nothing is archived by itself', async () => {
  const { archives, archiver, clock } = fixture;
  const call = new ArchiveRunsCall({ archives, archiver, afterDays: 0, clock });
  const ask = (request: object) => call.answer(ArchiveRuns.request.parse(request));
  const runId = await fixture.makeEnded();
  fixture.passTime(days(1));
  for (const request of [{}, { dryRun: true }])
    await expect(ask(request)).rejects.toMatchObject({ code: 'ARCHIVE_AGE_MISSING' });
  expect(await stateOf(runId)).toBe('kept');
  expect((await ask({ olderThanDays: 0, dryRun: true })).runs).toContainEqual({ runId, state: 'due' });
});

test('a client names runs or an age, and is told of each what became of it', async () => {
  const call = new ArchiveRunsCall({
    archives: fixture.archives,
    archiver: fixture.archiver,
    afterDays: 90,
    clock: fixture.clock,
  });
  const ask = (request: object) => call.answer(ArchiveRuns.request.parse(request));
  const [first, second] = [await fixture.makeEnded(), await fixture.makeEnded()];
  const running = await fixture.submit();
  fixture.passTime(days(2));
  const third = await fixture.makeEnded();
  const due = await ask({ olderThanDays: 1, dryRun: true });
  expect(due.runs).toEqual(expect.arrayContaining([first, second].map((runId) => ({ runId, state: 'due' }))));
  expect(due.runs.map(({ runId }) => runId)).not.toContain(third);
  expect(await ask({ olderThanDays: 1, dryRun: true, limit: 1 })).toMatchObject({ runs: [{}], more: true });
  expect(await stateOf(first)).toBe('kept');
  const named = await ask({ runIds: [third, running, first, third] });
  expect(named).toMatchObject({
    more: false,
    runs: [
      { runId: third, state: 'archived' },
      { runId: running, state: 'kept', failure: { code: 'RUN_NOT_ENDED' } },
      { runId: first, state: 'archived' },
    ],
  });
  expect(ArchiveRuns.response.parse(named)).toEqual(named);
  expect((await ask({ olderThanDays: 1 })).runs.map(({ runId }) => runId)).toContain(second);
  expect(await ask({})).toEqual({ runs: [], more: false });
});
