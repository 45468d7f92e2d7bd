import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommitId, RunId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { addBundle } from './bundle.ts';
import { ensureCommit, hasWholeCommit } from './ensure-commit.ts';
import { maintainMirror, removeAbandonedScratch } from './maintain-mirror.ts';
import { listMirrors, openKeptMirror, type Mirror } from './mirror.ts';
import { listPinnedRuns, pinCommit } from './pin.ts';
import { createGit, type RunGit } from './run-git.ts';
import { makeRemote, mirrorOf, runId, scratchDirectory, type ScratchRemote } from './scratch.fixture.ts';

const day = 24 * 3600 * 1000;
const runNumber = (number: number) => RunId.parse(`run_${String(number).padStart(26, '0')}`);

test('after many runs the refs and packs of a mirror stay few, and what a run under way has pinned survives', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  const base = CommitId.parse(remote.read('rev-parse', 'main'));
  await ensureCommit(mirror, base);
  const runs = Array.from({ length: 30 }, (_, index) => runNumber(index + 1));
  const loose = writeCommit(mirror, remote.read('rev-parse', 'main^{tree}'), '1700000000 +0000');
  const changes: CommitId[] = [];
  for (const run of runs) {
    const change = bringChange(remote, base, run);
    await addBundle(mirror, change.bundle);
    for (const commit of [change.commit, loose]) await pinCommit(mirror, run, commit);
    changes.push(change.commit);
  }
  const [underWay = runId, ...ended] = runs;
  expect(countPacks(mirror)).toBeGreaterThan(20);
  growOld(mirror);

  await maintainMirror(await keptOf(mirror), ended, new Date());

  expect((await refsOf(mirror)).filter((ref) => ref.startsWith('refs/flotilla/')).toSorted()).toEqual(
    [changes[0], loose].map((commit) => `refs/flotilla/${underWay}/${commit}`).toSorted(),
  );
  expect(await listPinnedRuns(mirror)).toEqual([underWay]);
  expect(countPacks(mirror)).toBe(1);
  expect(countLoose(mirror)).toBe(0);
  for (const commit of [base, loose, ...changes.slice(0, 1)]) expect(await hasWholeCommit(mirror, commit)).toBe(true);

  growOld(mirror);
  await maintainMirror(await keptOf(mirror), runs, new Date());
  expect(await hasWholeCommit(mirror, loose)).toBe(false);
});

test('of the commits that were fetched the newest stay', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  await ensureCommit(mirror, commit);
  const tree = remote.read('rev-parse', 'main^{tree}');
  const stamp = (seconds: number) => `${1_700_000_000 + seconds} +0000`;
  const older = Array.from({ length: 220 }, (_, second) => writeCommit(mirror, tree, stamp(second)));
  await mirror.run({
    args: ['update-ref', '-z', '--stdin'],
    input: older.map((id) => `create refs/mirror/fetched/${id}\0${id}\0`).join(''),
  });
  growOld(mirror);
  await maintainMirror(await keptOf(mirror), [], new Date());
  const refs = await refsOf(mirror);
  expect(refs).toHaveLength(200);
  expect(refs).toContain(`refs/mirror/fetched/${commit}`);
  expect(await hasWholeCommit(mirror, older.at(-1)!)).toBe(true);
  expect(await hasWholeCommit(mirror, older[0]!)).toBe(false);
});

test('maintenance that is aborted lets the next writer in, and is done the next time', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  await ensureCommit(mirror, commit);
  await pinCommit(mirror, runId, commit);
  const stop = new AbortController();
  const reason = new Error('a step came');
  const git = createGit();
  const abortAtGc: RunGit = (call) => {
    if (call.args[0] === 'gc') stop.abort(reason);
    return git(call);
  };
  await expect(maintainMirror(await keptOf(mirror, abortAtGc, stop.signal), [], new Date())).rejects.toBe(reason);
  writeFileSync(join(mirror.gitDirectory, 'gc.pid'), '1 another-host');
  await pinCommit(mirror, runNumber(2), commit);
  await maintainMirror(await keptOf(mirror), [runId], new Date());
  expect(await listPinnedRuns(mirror)).toEqual([runNumber(2)]);
  expect(countPacks(mirror)).toBe(1);
});

test('a mirror tells when it was last maintained', async () => {
  const mirror = await mirrorOf(makeRemote().bare);
  const then = new Date(Date.now() + 3 * day);
  const madeAt = (await listMirrors(mirror.cacheDirectory))[0]!.maintainedAt;
  expect(Math.abs(madeAt.getTime() - Date.now())).toBeLessThan(day);
  await maintainMirror(await keptOf(mirror), [], then);
  expect((await listMirrors(mirror.cacheDirectory))[0]!.maintainedAt).toEqual(then);
});

test('a directory without mirrors, and half of one, hold none', async () => {
  expect(await listMirrors('/var/empty/none')).toEqual([]);
  const mirror = await mirrorOf(makeRemote().bare);
  expect(await listMirrors(mirror.cacheDirectory)).toHaveLength(1);
  rmSync(join(mirror.gitDirectory, 'flotilla-mirror'));
  expect(await listMirrors(mirror.cacheDirectory)).toEqual([]);
});

test('what a crash left in the scratch room is removed after a day', async () => {
  const directory = scratchDirectory();
  const left = ['scratch-old', 'inspect-old'].map((name) => join(directory, name));
  for (const path of left) mkdirSync(path);
  await removeAbandonedScratch(directory, new Date());
  expect(left.map((path) => existsSync(path))).toEqual([true, true]);
  await removeAbandonedScratch(directory, new Date(Date.now() + 2 * day));
  expect(left.map((path) => existsSync(path))).toEqual([false, false]);
});

async function keptOf(mirror: Mirror, git: RunGit = createGit(), signal?: AbortSignal) {
  const [entry] = await listMirrors(mirror.cacheDirectory);
  return openKeptMirror({ cacheDirectory: mirror.cacheDirectory, key: entry!.key, git, signal });
}

/** A commit that only its author has, and the bundle that brings it. */
function bringChange(remote: ScratchRemote, base: CommitId, run: RunId) {
  remote.checkout.git('checkout', '-q', '--detach', base);
  const commit = remote.checkout.commit({ [`${run}.txt`]: `${run}\n` }, run);
  const path = join(remote.directory, `${run}.bundle`);
  remote.checkout.git('bundle', 'create', '-q', path, 'HEAD', `^${base}`);
  return { commit, bundle: execFileSync('cat', [path]) };
}

function writeCommit(mirror: Mirror, tree: string, date: string): CommitId {
  const identity = { NAME: 'Test', EMAIL: 'test@example.invalid', DATE: date };
  const env = Object.entries(identity).flatMap(([name, value]) =>
    ['AUTHOR', 'COMMITTER'].map((role) => [`GIT_${role}_${name}`, value]),
  );
  const args = [`--git-dir=${mirror.gitDirectory}`, 'commit-tree', tree, '-m', date];
  const options = { env: { PATH: process.env['PATH'], ...Object.fromEntries(env) }, encoding: 'utf8' } as const;
  return CommitId.parse(execFileSync('git', args, options).trim());
}

/** Everything in the object store as it will be a month from now. */
function growOld(mirror: Mirror): void {
  const then = new Date(Date.now() - 30 * day);
  for (const path of readdirSync(join(mirror.gitDirectory, 'objects'), { recursive: true, encoding: 'utf8' }))
    utimesSync(join(mirror.gitDirectory, 'objects', path), then, then);
}

function countPacks(mirror: Mirror): number {
  const names = readdirSync(join(mirror.gitDirectory, 'objects', 'pack'));
  return names.filter((name) => name.endsWith('.pack')).length;
}

function countLoose(mirror: Mirror): number {
  return readdirSync(join(mirror.gitDirectory, 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name)).length;
}

async function refsOf(mirror: Mirror): Promise<readonly string[]> {
  const answer = await mirror.run({ args: ['for-each-ref', '--format=%(refname)'] });
  return answer.stdout.toString('utf8').trim().split('\n');
}
