import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SalvageRun } from '@flotilla/contracts/calls/salvage-run';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import { type CommitId, RunId, StepId, type TreeId } from '@flotilla/contracts/ids';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import { createGit } from '@flotilla/git/run-git';
import { MemoryBundles } from '@flotilla/testing/memory-bundles';
import { ScratchRemote, type ScratchFiles } from '@flotilla/testing/scratch-remote';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Salvager } from './salvager.ts';

const runId = RunId.parse('run_00000000000000000000000001');
let directory: string;
let remote: ScratchRemote;
let bundles: MemoryBundles;
let log: LogEntry[];
let base: CommitId;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'merger-salvage-'));
  remote = new ScratchRemote({ 'a.txt': 'one\n' });
  base = remote.head();
  bundles = new MemoryBundles();
  bundles.names.set(`base/${base}`, remote.bundle(base));
  log = [];
  const repository = { repository: 'git.example.com/lost', branch: 'main', commit: base, tree: treeOf(base), files: 1 };
  write('open', 'repository.opened', repository);
});
afterEach(() => {
  remote.remove();
  rmSync(directory, { recursive: true, force: true });
});

test('kept work is told from the log and the stored bundles alone, as a patch that makes exactly its tree', async () => {
  const commit = keep(2, {
    'a.txt': 'two\n',
    'b.bin': Buffer.from([0, 1, 255]),
    'latin1.txt': Buffer.from([0xe4, 10]),
  });
  const answer = await salvager().salvage({ runId, offset: 0 });
  expect(answer).toMatchObject({
    state: 'found',
    stepId: 'build',
    attempt: 1,
    turn: 2,
    base,
    commit,
    truncated: false,
  });
  expect(answer.files.map(({ path }) => path)).toEqual(['a.txt', 'b.bin', 'latin1.txt']);
  expect(answer.diff).toContain('+two');
  expect(answer).not.toHaveProperty('next');
  expect(SalvageRun.response.parse(answer)).toEqual(answer);
  expect(treeAfter(Buffer.from(answer.patch, 'base64'))).toBe(treeOf(commit));
  expect(await salvager().salvage({ runId, offset: 0 })).toEqual(answer);
});

test('a patch of many megabytes comes whole, in parts of one commit, though newer work is kept meanwhile', async () => {
  const commit = keep(2, { 'big.bin': randomBytes(2_500_000) });
  const parts: ResponseOf<typeof SalvageRun>[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; offset = parts.at(-1)?.next) {
    parts.push(await salvager().salvage({ runId, offset, ...(offset === 0 ? {} : { commit }) }));
    keep(2 + parts.length, { 'a.txt': `${parts.length}\n` });
  }
  expect(parts).toHaveLength(2);
  expect(parts.every((part) => JSON.stringify(part).length < 4 * 1024 * 1024)).toBe(true);
  expect(treeAfter(Buffer.concat(parts.map(({ patch }) => Buffer.from(patch, 'base64'))))).toBe(treeOf(commit));
});

test('a run that kept nothing, one that nobody knows and work whose bundle is gone are told apart', async () => {
  expect(await salvager().salvage({ runId, offset: 0 })).toMatchObject({ state: 'none', files: [], patch: '' });
  const unknown = RunId.parse('run_00000000000000000000000002');
  await expect(salvager().salvage({ runId: unknown, offset: 0 })).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
  keep(1, { 'a.txt': 'gone\n' });
  bundles.names.clear();
  await expect(salvager().salvage({ runId, offset: 0 })).rejects.toMatchObject({ code: 'COMMIT_UNAVAILABLE' });
});

test('a step that the run has not done is an error, and one that kept nothing is not', async () => {
  const asked = (stepId: string) => salvager().salvage({ runId, offset: 0, stepId: StepId.parse(stepId) });
  await expect(asked('nope')).rejects.toMatchObject({ code: 'STEP_UNKNOWN', status: 400 });
  expect(await asked('open')).toMatchObject({ state: 'none' });
  log = log.map((entry) => ({ ...entry, sequence: 9, stepId: undefined }));
  await expect(asked('open')).rejects.toMatchObject({ code: 'RUN_ARCHIVED' });
});

/** On a host that has no mirror yet, the first time. */
function salvager(): Salvager {
  return new Salvager({
    git: createGit(),
    mirrorDirectory: join(directory, 'mirrors'),
    bundles,
    readLog: async (id, { types, stepId, after, limit }) =>
      log
        .filter(
          (entry) =>
            entry.runId === id &&
            entry.sequence > after &&
            (stepId ?? entry.stepId) === entry.stepId &&
            types?.includes(entry.type) !== false,
        )
        .slice(0, limit),
  });
}

function keep(turn: number, files: ScratchFiles): CommitId {
  const commit = remote.author(files, base);
  const bundle = `kept/${commit}`;
  bundles.names.set(bundle, remote.bundle(commit, [base]));
  write('build', 'agent.checkpoint', { turn, commit, tree: treeOf(commit), bundle });
  return commit;
}

function write(stepId: string, type: string, payload: unknown): void {
  const sequence = log.length + 1;
  log.push({ runId, sequence, stepId: stepId as StepId, attempt: 1, type, payload, at: '2030-01-01T00:00:00.000Z' });
}

function treeOf(commit: CommitId): TreeId {
  return remote.treeOf(commit);
}

function treeAfter(patch: Buffer): string {
  const copy = mkdtempSync(join(directory, 'copy-'));
  const git = (argv: readonly string[], input?: Buffer) =>
    execFileSync('git', argv, { cwd: copy, encoding: 'utf8', maxBuffer: 1e9, ...(input && { input }) }).trim();
  git(['clone', '-q', remote.path, '.']);
  git(['checkout', '-q', base]);
  git(['apply', '--index', '-'], patch);
  return git(['write-tree']);
}
