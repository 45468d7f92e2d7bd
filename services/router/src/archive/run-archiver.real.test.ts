import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PublishedRun } from '@flotilla/contracts/calls/published-views';
import { LogEntry } from '@flotilla/contracts/log-entry';
import type { RunId } from '@flotilla/contracts/ids';
import { acquireLease } from '@flotilla/store/lease';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { done } from '../domain/run.fixture.ts';
import { ann, failureOf, project } from '../store/router.fixture.ts';
import { type ArchiveFixture, createArchiveFixture, noted } from './archive.fixture.ts';
import { ArchiveFiles } from './archive-files.ts';
import { RunArchiver, type RunArchiverPorts } from './run-archiver.ts';

let fixture: ArchiveFixture;
beforeAll(async () => {
  fixture = await createArchiveFixture();
});
afterAll(() => fixture.close());

const large = { text: 'x'.repeat(40_000) };
const odd = { text: '\u0000\u2028\ud800 "bundle":"run_x/1"\n', number: 1e-7, nested: { list: [null, true, []] } };
const rowsOf = (table: string, column: string, runId: RunId) =>
  fixture.store.query<{ row: unknown }>(`select row_to_json(t) as row from ${table} as t where ${column} = $1`, [
    runId,
  ]);
const objectsOf = async (runId: RunId) =>
  [...(await fixture.changes.list(runId)), ...(await fixture.spills.list(runId))].toSorted();
const stateOf = async (runId: RunId) => ({
  log: (await fixture.log(runId)).map(({ type }) => type),
  gates: (await rowsOf('router.gate', 'run_id', runId)).length,
  objects: await objectsOf(runId),
  leftover: await fixture.archives.readLeftover(runId),
  archived: (await fixture.archives.readFacts(runId)).archive !== undefined,
  asides: (await readdir(fixture.directory, { recursive: true })).filter((name) => name.includes(`.${runId}.`)),
});
const gone = { log: ['run.ended'], gates: 0, objects: [], leftover: undefined, archived: true, asides: [] };

/** What a file holds, compared with what was there. */
async function expectHeld(file: string, before: Awaited<ReturnType<typeof takeBefore>>) {
  const { records, of } = await fixture.read(file);
  expect(of('entry').map(({ kind: _, ...entry }) => LogEntry.parse(entry))).toEqual(before.log);
  expect(of('run').map(({ row }) => row)).toEqual(before.run);
  expect(of('gate').map(({ row }) => row)).toEqual(before.gates);
  const bundle = of('bundle')
    .map(({ base64 }) => String(base64))
    .join('');
  expect(Buffer.from(bundle, 'base64').toString()).toBe(before.bundle);
  expect(records.at(-1)).toEqual({ kind: 'end', entries: before.log.length, gates: before.gates.length, bundles: 1 });
}

async function takeBefore(runId: RunId) {
  return {
    log: await fixture.log(runId),
    run: (await rowsOf('router.run', 'id', runId)).map(({ row }) => row),
    gates: (await rowsOf('router.gate', 'run_id', runId)).map(({ row }) => row),
    bundle: Buffer.from(await fixture.changes.get(fixture.bundleOf(runId, 2))).toString(),
  };
}

test('what the file holds is all that was there, and then nothing of it is left but a small row and the end', async () => {
  const [runId, other] = [
    await fixture.makeEnded([large, odd, { ...large, odd }], { goal: 'Keep \u0000 digits.' }),
    await fixture.makeEnded([large]),
  ];
  const [before, others] = [await takeBefore(runId), await stateOf(other)];
  expect(before.log.length).toBeGreaterThan(10);
  expect((await objectsOf(runId)).length).toBeGreaterThan(3);
  const { file } = await fixture.archiver.archive(runId);
  expect(file).toBe(`${new Date().toISOString().slice(0, 7)}/${runId}.jsonl.gz`);
  await expectHeld(file, before);
  expect(await stateOf(runId)).toEqual(gone);
  expect(await stateOf(other)).toEqual(others);
  const modes = [file, '.', join(file, '..')].map(
    async (name) => (await stat(join(fixture.directory, name))).mode & 0o777,
  );
  expect(await Promise.all(modes)).toEqual([0o600, 0o700, 0o700]);
  expect((await fixture.archiver.archive(runId)).file).toBe(file);
});

test('any log is kept letter by letter', async () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const text = () => String.fromCharCode(...Array.from({ length: random(60) }, () => random(0xffff)));
  const value = (depth: number): unknown => {
    const kind = random(depth > 3 ? 4 : 7);
    if (kind === 0) return text();
    if (kind === 1) return random(1_000_000) / 7;
    if (kind === 2) return random(2) === 0 ? null : text().repeat(random(600));
    if (kind === 3) return random(2) === 0;
    if (kind < 6) return Array.from({ length: random(4) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: random(5) }, () => [text(), value(depth + 1)]));
  };
  for (let round = 0; round < 8; round += 1) {
    const runId = await fixture.makeEnded(Array.from({ length: 5 + random(200) }, () => ({ value: value(0) })));
    const before = await takeBefore(runId);
    await expectHeld((await fixture.archiver.archive(runId)).file, before);
    expect(await stateOf(runId)).toEqual(gone);
  }
});

/** An archiver that dies when it has called the world `lives` times: before what it was about to do, or after it was done. */
function createDying(lives: number, when: 'before' | 'after') {
  let left = lives;
  const mortal = <Ports extends object>(ports: Ports): Ports =>
    new Proxy(ports, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return async (...given: unknown[]) => {
          if (left === 0 || ((left -= 1) === 0 && when === 'before')) throw new Error('died');
          // The lines of the file are asked for while it is written, and may be where it dies.
          const result: unknown = await Reflect.apply(member, target, given);
          if (left === 0) throw new Error('died');
          return result;
        };
      },
    });
  const { archives, files, changes, spills } = fixture.ports;
  const ports: RunArchiverPorts = {
    archives: mortal(archives),
    files: { ...mortalFiles(files as ArchiveFiles, mortal) },
    changes: mortal(changes),
    spills: mortal(spills),
    // A process that died gives nothing back: its lease ends by itself, as here at once.
    alone: async (_, work) => work(),
  };
  return { archiver: new RunArchiver(ports), isAlive: () => left > 0 };
}

/** The dead take nothing away. */
function mortalFiles(
  files: ArchiveFiles,
  mortal: <Ports extends object>(ports: Ports) => Ports,
): RunArchiverPorts['files'] {
  const dying = mortal(files);
  return {
    require: () => files.require(),
    write: (...given) => dying.write(...given),
    publish: (...given) => dying.publish(...given),
    discard: (...given) => dying.discard(...given).catch(() => undefined),
  };
}

test.each(['before', 'after'] as const)(
  'whoever archives a run and dies %s any of its steps leaves it whole or archived, and the next finishes it',
  async (when) => {
    let points = 0;
    for (let lives = 1; ; lives += 1) {
      const runId = await fixture.makeEnded([large, odd]);
      const before = await takeBefore(runId);
      const whole = await stateOf(runId);
      const { archiver, isAlive } = createDying(lives, when);
      const failure = await failureOf(archiver.archive(runId));
      if (isAlive()) {
        expect(failure).toBeUndefined();
        break;
      }
      points += 1;
      const left = await stateOf(runId);
      if (left.archived) {
        expect({ ...left, objects: [], leftover: undefined, asides: [] }).toEqual(gone);
        await expectHeld((await fixture.archives.readFacts(runId)).archive!.file, before);
      } else expect({ ...left, asides: [] }).toEqual(whole);
      const { file } = await fixture.archiver.archive(runId);
      await expectHeld(file, before);
      expect(await stateOf(runId)).toEqual({ ...gone, asides: left.archived ? left.asides : [] });
    }
    expect(points).toBeGreaterThan(12);
  },
  120_000,
);

test('a crash that left a file in its place or half a file aside is written over', async () => {
  const runId = await fixture.makeEnded();
  const before = await takeBefore(runId);
  const month = join(fixture.directory, new Date().toISOString().slice(0, 7));
  await mkdir(month, { recursive: true });
  await writeFile(join(month, `${runId}.jsonl.gz`), 'half a file');
  await writeFile(join(month, `.${runId}.dead`), 'half a file');
  await expectHeld((await fixture.archiver.archive(runId)).file, before);
  expect(await stateOf(runId)).toEqual(gone);
});

test('of two that archive one run at once both are told the same file, which holds all of it', async () => {
  const runId = await fixture.makeEnded([large]);
  const before = await takeBefore(runId);
  // Without leases, as where one of them has stalled beyond its own.
  const unleased = () => new RunArchiver({ ...fixture.ports, alone: (_, work) => work() });
  const results = await Promise.allSettled([unleased().archive(runId), unleased().archive(runId)]);
  const files = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.file] : []));
  expect(files.length).toBeGreaterThan(0);
  await expectHeld(files[0]!, before);
  expect(await stateOf(runId)).toEqual(gone);
});

test('a run that somebody is archiving is left to them', async () => {
  const runId = await fixture.makeEnded();
  await acquireLease(fixture.store, `archive/${runId}`, 'another router', 60_000);
  expect(await failureOf(fixture.archiver.archive(runId))).toBe('ARCHIVE_BUSY');
});

test('a run under way, one whose task is done again and one that nobody knows are kept', async () => {
  const running = await fixture.submit();
  expect(await failureOf(fixture.archiver.archive(running))).toBe('RUN_NOT_ENDED');
  const retried = await fixture.makeEnded();
  const { runId: retry } = await fixture.intake.retry(retried, ann);
  expect(await failureOf(fixture.archiver.archive(retried))).toBe('ARCHIVE_RETRY_UNDER_WAY');
  await fixture.runs.cancel(retry, ann);
  expect(await failureOf(fixture.archiver.archive(retried))).toBeUndefined();
  expect(await fixture.intake.retry(retried, ann)).toEqual({ runId: retry, created: false });
  expect(await failureOf(fixture.archiver.archive(`run_${'9'.repeat(26)}` as RunId))).toBe('RUN_UNKNOWN');
});

test('an entry that comes while the file is written keeps the run as it was', async () => {
  const runId = await fixture.makeEnded();
  const { files } = fixture.ports;
  const slow: RunArchiverPorts['files'] = {
    require: () => files.require(),
    write: async (...given) => {
      const written = await files.write(...given);
      await fixture.store.transaction((transaction) =>
        transaction.appendLog(runId, [noted({ late: true })]).then(() => undefined),
      );
      return written;
    },
    publish: (written) => files.publish(written),
    discard: (written) => files.discard(written),
  };
  const whole = await stateOf(runId);
  expect(await failureOf(new RunArchiver({ ...fixture.ports, files: slow }).archive(runId))).toBe(
    'ARCHIVE_LOG_CHANGED',
  );
  expect(await stateOf(runId)).toEqual({ ...whole, log: [...whole.log, 'noted'] });
  expect(await failureOf(fixture.archiver.archive(runId))).toBeUndefined();
});

test('without a directory, and on a disk that takes nothing, the run is as it was', async () => {
  const runId = await fixture.makeEnded();
  const whole = await stateOf(runId);
  const archiveIn = (directory: string | undefined) =>
    failureOf(
      new RunArchiver({ ...fixture.ports, files: new ArchiveFiles({ directory, newId: () => 'x' }) }).archive(runId),
    );
  expect(await archiveIn(undefined)).toBe('ARCHIVE_DIRECTORY_MISSING');
  await writeFile(join(fixture.directory, 'no-directory'), '');
  expect(await archiveIn(join(fixture.directory, 'no-directory'))).toBe('ARCHIVE_NOT_WRITTEN');
  expect(await stateOf(runId)).toEqual(whole);
});

test('objects that a lost broker took along do not keep a run from its archive, which tells of them', async () => {
  const runId = await fixture.makeEnded([large]);
  for (const name of await fixture.spills.list(runId)) await fixture.spills.delete(name);
  for (const name of await fixture.changes.list(runId)) await fixture.changes.delete(name);
  const { of } = await fixture.read((await fixture.archiver.archive(runId)).file);
  expect(of('entry').filter(({ lost }) => lost !== undefined)).toHaveLength(1);
  expect([of('bundle'), (await stateOf(runId)).log]).toEqual([[], ['run.ended']]);
});

test('the key of an archived run gives that run back for ever, lists show it, and its task is not asked for again', async () => {
  const goal = 'Keep the digits. '.repeat(200);
  const runId = await fixture.makeEnded([], { externalKey: 'ticket-1', goal });
  await fixture.archiver.archive(runId);
  fixture.passTime(400 * 24 * 3600);
  expect(await fixture.submit({ externalKey: 'ticket-1', goal })).toBe(runId);
  expect(await failureOf(fixture.submit({ externalKey: 'ticket-1', goal: 'Another.' }))).toBe('EXTERNAL_KEY_REUSED');
  expect(await failureOf(fixture.intake.retry(runId, ann))).toBe('RUN_ARCHIVED');
  expect(await failureOf(fixture.runs.cancel(runId, ann))).toBe('RUN_ARCHIVED');
  const [row] = await fixture.readView(PublishedRun, 'run', 'run_id = $1', [runId]);
  expect(row).toMatchObject({ project: project.name, result: 'declined', external_key: 'ticket-1' });
  expect(row!.archive).toContain(runId);
  expect(row!.goal).toHaveLength(200);
});

test('an answer that comes after the archive is dropped, and opens no log anew', async () => {
  const runId = await fixture.makeEnded();
  await fixture.archiver.archive(runId);
  const completion = {
    runId,
    stepId: 'build',
    attempt: 1,
    outcome: done('build'),
    spent: { turns: 0, calls: 0, tokens: 0, microdollars: 0, seconds: 0 },
  };
  const inbox = { messageId: `${runId}/build/1/completed`, stage: 'StepCompleted' };
  expect(await fixture.runs.completeStep(completion as never, inbox)).toEqual({ kind: 'ignored', reason: 'ended' });
  expect((await stateOf(runId)).log).toEqual(['run.ended']);
  expect(await fixture.store.grouped.hasEntry({ runId, types: ['run.ended'] })).toBe(true);
});
