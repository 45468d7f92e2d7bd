import { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { ensureCommit } from '@flotilla/git/ensure-commit';
import { listMirrors, type Mirror } from '@flotilla/git/mirror';
import { listPinnedRuns, pinCommit } from '@flotilla/git/pin';
import { createGit, type RunGit } from '@flotilla/git/run-git';
import type { StepWork } from '@flotilla/host/step-work';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { ScratchRemote } from '@flotilla/testing/scratch-remote';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RunEnd } from './domain/judge-pins.ts';
import { openRemoteMirror } from './git/open-remote-mirror.ts';
import { MirrorKeeper, type MirrorKeeperPorts } from './mirror-keeper.ts';

const running = RunId.parse('run_00000000000000000000000001');
const landed = RunId.parse('run_00000000000000000000000002');
const failed = RunId.parse('run_00000000000000000000000003');
const began = Date.now();
const inDays = (days: number) => new Date(began + days * 24 * 3600 * 1000);

let data: string;
let remotes: ScratchRemote[];
let now: Date;
let ends: Map<RunId, RunEnd>;
let maintained: [string, readonly RunId[]][];
let troubles: unknown[];

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'merger-keeper-'));
  remotes = [];
  now = inDays(2);
  ends = new Map([
    [landed, { result: 'landed', at: inDays(0).toISOString() }],
    [failed, { result: 'failed', at: inDays(0).toISOString() }],
  ]);
  maintained = [];
  troubles = [];
});
afterEach(() => {
  for (const remote of remotes) remote.remove();
  rmSync(data, { recursive: true, force: true });
});

test('the commits of a run that landed go at the next upkeep, those of a failed one a week later, and of one under way never', async () => {
  const mirror = await usedMirror();
  await keeper().keep();
  expect(await listPinnedRuns(mirror)).toEqual([running, failed]);
  now = inDays(9);
  await keeper().keep();
  expect(await listPinnedRuns(mirror)).toEqual([running]);
  expect(maintained.map(([, unpinned]) => unpinned)).toEqual([[landed], [failed]]);
  expect(troubles).toEqual([]);
});

test('a mirror is maintained once a day', async () => {
  await usedMirror();
  for (const days of [0, 0.9, 1.1, 1.2, 2, 2.2]) {
    now = inDays(days);
    await keeper().keep();
  }
  expect(maintained).toHaveLength(2);
});

test('while a step is at work no mirror is maintained, unless it had to wait for a week', async () => {
  await usedMirror();
  const kept = keeper();
  const step = held();
  const working = kept.before(step).work(request, new MemoryStepContext());
  await kept.keep();
  expect(maintained).toEqual([]);
  now = inDays(8);
  await kept.keep();
  expect(maintained).toHaveLength(1);
  step.finish();
  await expect(working).resolves.toBe(step.answer);
  now = inDays(10);
  await kept.keep();
  expect(maintained).toHaveLength(2);
});

test('a step that comes cuts maintenance short, which is done later without a word', async () => {
  const mirror = await usedMirror();
  const git = createGit();
  const step = held();
  let working: Promise<unknown> | undefined;
  const withStepAtGc: RunGit = (call) => {
    if (call.args[0] === 'gc') working ??= kept.before(step).work(request, new MemoryStepContext());
    return git(call);
  };
  const kept = keeper({ git: withStepAtGc });
  await kept.keep();
  expect([maintained, troubles]).toEqual([[], []]);
  await mirror.withLock(async () => undefined);
  step.finish();
  await working;
  await kept.keep();
  expect(maintained).toHaveLength(1);
});

test('a mirror that another holds is left for later without a word', async () => {
  const mirror = await usedMirror();
  await mirror.withLock(() => keeper().keep());
  expect([maintained, troubles]).toEqual([[], []]);
});

test('what fails at one mirror is told and keeps neither the others nor the service from anything', async () => {
  const [one, other] = [await usedMirror(), await usedMirror()];
  const git = createGit();
  const broken: RunGit = (call) =>
    call.args[0] === 'gc' && call.gitDirectory === one.gitDirectory
      ? Promise.reject(new FlotillaError(errors.mirrorDiskFull))
      : git(call);
  await keeper({ git: broken }).keep();
  expect(troubles).toMatchObject([{ code: errors.mirrorDiskFull.code }]);
  expect(maintained.map(([key]) => other.gitDirectory.includes(key))).toEqual([true]);
});

test('where the ends of runs cannot be read, no commit is let go', async () => {
  const mirror = await usedMirror();
  const lost = new Error('Postgres is away');
  await keeper({ endOf: () => Promise.reject(lost) }).keep();
  expect(await listPinnedRuns(mirror)).toEqual([running, landed, failed]);
  expect(troubles).toEqual([lost]);
});

test('what an asking of a remote left behind is removed, also where no mirror is', async () => {
  const left = join(data, 'mirrors', 'inspect-old');
  await mkdir(left, { recursive: true });
  now = new Date(Date.now() + 2 * 24 * 3600 * 1000);
  await keeper().keep();
  expect(await readdir(join(data, 'mirrors'))).toEqual([]);
  expect(troubles).toEqual([]);
});

test('a keeper that is stopped ends at once, and one without mirrors has nothing to do', async () => {
  await keeper().keep();
  const kept = keeper();
  kept.onApplicationBootstrap();
  await kept.onApplicationShutdown();
  expect([maintained, troubles]).toEqual([[], []]);
});

function keeper(parts: Partial<MirrorKeeperPorts> = {}): MirrorKeeper {
  return new MirrorKeeper({
    mirrorDirectory: join(data, 'mirrors'),
    git: createGit(),
    endOf: (runId) => Promise.resolve(ends.get(runId)),
    clock: () => now,
    everyMs: 3_600_000,
    onMaintained: (mirror, unpinned) => void maintained.push([mirror, unpinned]),
    onTrouble: (_mirror, error) => void troubles.push(error),
    ...parts,
  });
}

/** A mirror in which each of the runs has pinned a commit. */
async function usedMirror(): Promise<Mirror> {
  const remote = new ScratchRemote();
  remotes.push(remote);
  const credentials = { read: () => Promise.reject(new Error('none')) };
  const mirrors = { mirrorDirectory: join(data, 'mirrors'), credentialDirectory: data, credentials, refusedUnder: [] };
  const project = { ...request.project, remote: remote.path };
  const mirror = await openRemoteMirror({ ...mirrors, git: createGit() }, project);
  await ensureCommit(mirror, remote.head());
  for (const runId of [running, landed, failed]) await pinCommit(mirror, runId, remote.head());
  expect(await listMirrors(join(data, 'mirrors'))).toHaveLength(remotes.length);
  return mirror;
}

const request = LandStepRequested.payload.parse(LandStepRequested.example);

/** A step at work until it is told to finish. */
function held() {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const answer = {
    outcome: { kind: 'cancelled' },
    spent: { turns: 0, calls: 0, tokens: 0, microdollars: 0, seconds: 0 },
  } as const;
  const step: StepWork<LandStepRequested> = { work: () => promise.then(() => answer) };
  return { ...step, answer, finish: () => resolve(undefined) };
}
