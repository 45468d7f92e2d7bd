import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { CommitId } from '@flotilla/contracts/ids';
import { expect, test, vi } from 'vitest';
import { addBundle, createBundle } from './bundle.ts';
import { captureChange, type CaptureRequest } from './capture-change.ts';
import { createWorkspaceMemory } from './collect-changes.ts';
import { ensureCommit, hasWholeCommit } from './ensure-commit.ts';
import { layTree } from './lay-tree.ts';
import type { Mirror } from './mirror.ts';
import {
  at,
  emptyWorkspace,
  makeRemote,
  mirrorOf,
  occasion,
  plainGit,
  writeFiles,
  type Files,
  type ScratchRemote,
} from './scratch.fixture.ts';
import { makeThrowAwayRepository } from './throw-away-repository.ts';

interface Bench {
  readonly mirror: Mirror;
  readonly base: CommitId;
  readonly directory: string;
  readonly remote: ScratchRemote;
  capture(request?: Partial<CaptureRequest>): ReturnType<typeof captureChange>;
  /** `status path` of every changed file; empty for no change. */
  changed(request?: Partial<CaptureRequest>): Promise<readonly string[]>;
}

async function layBench(files: Files, prepare: (remote: ScratchRemote) => void = () => undefined): Promise<Bench> {
  const remote = makeRemote(files);
  prepare(remote);
  remote.push();
  const base = CommitId.parse(remote.read('rev-parse', 'main'));
  const mirror = await mirrorOf(remote.bare);
  await ensureCommit(mirror, base);
  const directory = emptyWorkspace();
  await layTree(mirror, { commit: base, directory });
  await makeThrowAwayRepository(mirror, { commit: base, directory });
  const capture: Bench['capture'] = (request) =>
    captureChange(mirror, { base, directory, message: 'Work', occasion, at, ...request });
  return {
    mirror,
    base,
    directory,
    remote,
    capture,
    async changed(request) {
      const captured = await capture(request);
      return captured.kind === 'changed' ? captured.files.map(({ status, path }) => `${status} ${path}`) : [];
    },
  };
}

test('an untouched workspace is no change', async () => {
  const bench = await layBench({ 'a.txt': 'a', 'b/c.sh': '#!/bin/sh\n' }, ({ checkout }) => {
    chmodSync(join(checkout.directory, 'b/c.sh'), 0o755);
    symlinkSync('a.txt', join(checkout.directory, 'link'));
    checkout.commit({ 'crlf.txt': 'a\r\n', '.gitattributes': '* text=auto eol=crlf\n' });
  });
  expect(await bench.capture()).toEqual({ kind: 'no_changes' });
});

test('additions, changes, deletions, modes, links and changes of kind are captured', async () => {
  const bench = await layBench({
    'a.txt': 'a\nb\n',
    'gone.txt': 'x',
    'run.sh': '#!/bin/sh\n',
    'kind.txt': 'x',
    'dir/one.txt': '1',
    file: 'f',
  });
  const { directory } = bench;
  writeFiles(directory, { 'a.txt': 'a\nc\nd\n', 'new/deep/x.txt': 'x' });
  rmSync(join(directory, 'gone.txt'));
  chmodSync(join(directory, 'run.sh'), 0o755);
  rmSync(join(directory, 'kind.txt'));
  symlinkSync('a.txt', join(directory, 'kind.txt'));
  renameSync(join(directory, 'dir'), join(directory, 'other'));
  symlinkSync('other', join(directory, 'dir'));
  rmSync(join(directory, 'file'));
  writeFiles(directory, { 'file/inside.txt': 'now a directory' });
  const captured = await bench.capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  expect(captured.files).toEqual([
    { path: 'a.txt', status: 'modified', additions: 2, deletions: 1 },
    { path: 'dir', status: 'added', additions: 1, deletions: 0 },
    { path: 'dir/one.txt', status: 'deleted', additions: 0, deletions: 1 },
    { path: 'file', status: 'deleted', additions: 0, deletions: 1 },
    { path: 'file/inside.txt', status: 'added', additions: 1, deletions: 0 },
    { path: 'gone.txt', status: 'deleted', additions: 0, deletions: 1 },
    { path: 'kind.txt', status: 'type_changed', additions: 1, deletions: 1 },
    { path: 'new/deep/x.txt', status: 'added', additions: 1, deletions: 0 },
    { path: 'other/one.txt', status: 'added', additions: 1, deletions: 0 },
    { path: 'run.sh', status: 'modified', additions: 0, deletions: 0 },
  ]);
});

test('the tree is the one that git add --all writes, also for odd names', async () => {
  const bench = await layBench({
    '.gitignore': '*.log\n/build/\n!keep.log\nsub/**/*.tmp\n',
    'sub/.gitignore': 'only-here\n',
  });
  const { directory } = bench;
  const odd = ['-rf', 'a\nb', 'q"uote', 'sp ace ', ':(top)x', '*', '\u202e', 'back\\slash', 'ünï', '#x', '!x'];
  for (const name of odd) writeFiles(directory, { [name]: name, [`dir ${name}/${name}`]: name });
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x66, 0xff])]), 'bytes');
  writeFiles(directory, {
    'x.log': '',
    'keep.log': 'k',
    'build/out.js': '',
    'sub/build/x': 'x',
    'sub/a/b/c.tmp': '',
    'sub/only-here': '',
    'only-here': 'y',
  });
  mkdirSync(join(directory, 'empty'));
  const captured = await bench.capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  plainGit(directory, 'add', '--all');
  expect(captured.tree).toBe(plainGit(directory, 'write-tree'));
});

test('a tracked file stays tracked although a rule ignores it, and its ignored neighbours stay out', async () => {
  const bench = await layBench({ 'vendor/kept.js': '1' }, ({ checkout }) =>
    checkout.commit({ '.gitignore': 'vendor/\n' }),
  );
  writeFiles(bench.directory, { 'vendor/kept.js': '2', 'vendor/other.js': 'x', 'vendor/deep/er.js': 'x' });
  expect(await bench.changed()).toEqual(['modified vendor/kept.js']);
});

test('rules that the workspace adds hold at once, and rules that it lost by rewriting .gitignore still hold', async () => {
  const bench = await layBench({ '.gitignore': 'node_modules/\ndist\n', 'pkg/.gitignore': 'out\n' });
  const { directory } = bench;
  writeFiles(directory, { 'node_modules/x/index.js': '', 'dist/a.js': '', 'cache/x': '', 'pkg/out/a': '' });
  writeFiles(directory, { '.gitignore': 'cache\n' });
  rmSync(join(directory, 'pkg/.gitignore'));
  expect(await bench.changed()).toEqual(['modified .gitignore', 'deleted pkg/.gitignore']);
});

test('a rule of the base is lifted by naming the path with an exclamation mark', async () => {
  const bench = await layBench({ '.gitignore': '*.json\n' });
  writeFiles(bench.directory, { '.gitignore': '!kept.json\n', 'kept.json': '{}', 'other.json': '{}' });
  expect(await bench.changed()).toEqual(['modified .gitignore', 'added kept.json']);
});

test('a .gitignore that is a link is no rule', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  writeFiles(bench.directory, { rules: '*\n', 'sub/x.txt': 'x' });
  symlinkSync('../rules', join(bench.directory, 'sub/.gitignore'));
  expect(await bench.changed()).toEqual(['added rules', 'added sub/.gitignore', 'added sub/x.txt']);
});

test('what the setup laid is left out, but tracked files in it are not', async () => {
  const bench = await layBench({ 'a.txt': 'a', 'lib/tracked.txt': '1' });
  writeFiles(bench.directory, {
    '.venv/bin/python': '',
    'packages/x/node_modules/y': '',
    'lib/tracked.txt': '2',
    'lib/laid.txt': '',
  });
  expect(await bench.changed({ exclude: ['.venv', 'packages/x/node_modules/', './lib'] })).toEqual([
    'modified lib/tracked.txt',
  ]);
});

test('directories that package managers fill are left out where nothing ignores them, but not what the base has in them', async () => {
  const bench = await layBench({ 'a.txt': 'a', 'vendor/node_modules/tracked.js': '1' });
  writeFiles(bench.directory, {
    'node_modules/dep/index.js': '',
    'packages/x/.venv/bin/python': '',
    'vendor/node_modules/tracked.js': '2',
    'src/node_modules.js': '',
  });
  expect(await bench.changed()).toEqual(['added src/node_modules.js', 'modified vendor/node_modules/tracked.js']);
});

test('sockets and FIFOs are no files and do not block', async () => {
  const bench = await layBench({ 'a.txt': 'a', 'was-file': 'x' });
  execFileSync('mkfifo', [join(bench.directory, 'fifo')]);
  rmSync(join(bench.directory, 'was-file'));
  execFileSync('mkfifo', [join(bench.directory, 'was-file')]);
  expect(await bench.changed()).toEqual(['deleted was-file']);
});

const lookalikes = [
  '.git',
  '.GIT',
  '.Git',
  '.git ',
  '.git.',
  '.git...',
  '.g\u200cit',
  'git~1',
  'GIT~1',
  '.git::$INDEX_ALLOCATION',
  '.git\\config',
];

test('whatever git or a file system takes for .git is refused below the root, as a directory and as a file', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  for (const name of lookalikes) {
    for (const path of [`sub/${name}/config`, `sub/${name}`]) {
      writeFiles(bench.directory, { [path]: 'gitdir: /elsewhere' });
      await expect(bench.capture(), path).rejects.toMatchObject({ code: 'CHANGE_REFUSED', remedy: 'caller' });
      rmSync(join(bench.directory, 'sub'), { recursive: true });
    }
  }
  expect(await bench.capture()).toEqual({ kind: 'no_changes' });
});

test('at the root only the throw-away repository itself may look like .git', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  for (const name of lookalikes.slice(1)) {
    writeFiles(bench.directory, { [name]: '' });
    await expect(bench.capture(), name).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
    rmSync(join(bench.directory, name));
  }
  expect(await bench.capture()).toEqual({ kind: 'no_changes' });
});

test('names that only look a little like .git are taken', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  writeFiles(bench.directory, {
    '.github/x.yml': 'x',
    '.gitkeep': '',
    'x.git': '',
    git: '',
    'git~2': '',
    'a.git/config': '',
  });
  expect(await bench.changed()).toHaveLength(6);
});

test('a nested repository in an ignored directory is none of our business', async () => {
  const bench = await layBench({ '.gitignore': 'node_modules\n' });
  writeFiles(bench.directory, { 'node_modules/dep/.git/config': '', 'a.txt': 'a' });
  expect(await bench.changed()).toEqual(['added a.txt']);
});

test('a dangerous .gitmodules is refused where it is made', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  writeFiles(bench.directory, { '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n' });
  await expect(bench.capture()).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
  rmSync(join(bench.directory, '.gitmodules'));
  symlinkSync('a.txt', join(bench.directory, '.gitmodules'));
  await expect(bench.capture()).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
});

test('a submodule of the base is kept while its directory is empty, and content in it is refused', async () => {
  const bench = await layBench({ 'a.txt': 'a' }, ({ checkout }) => {
    checkout.git('update-index', '--add', '--cacheinfo', `160000,${checkout.git('rev-parse', 'HEAD')},sub`);
    checkout.git('commit', '-q', '-m', 'Add a submodule');
  });
  writeFiles(bench.directory, { 'b.txt': 'b' });
  expect(await bench.changed()).toEqual(['added b.txt']);
  writeFiles(bench.directory, { 'sub/x.txt': 'x' });
  await expect(bench.capture()).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
});

test('too many entries, too many files, too large files and sparse giants are told as such and cost no time', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  for (let index = 0; index < 30; index += 1) writeFiles(bench.directory, { [`many/${index}`]: 'x' });
  const tooLarge = expect.objectContaining({ code: 'CHANGE_TOO_LARGE', remedy: 'caller' });
  await expect(bench.capture({ limits: { entries: 20 } })).rejects.toEqual(tooLarge);
  await expect(bench.capture({ limits: { changedFiles: 20 } })).rejects.toEqual(tooLarge);
  rmSync(join(bench.directory, 'many'), { recursive: true });
  writeFiles(bench.directory, { large: 'x'.repeat(2000) });
  await expect(bench.capture({ limits: { fileBytes: 1000 } })).rejects.toEqual(tooLarge);
  await expect(bench.capture({ limits: { totalBytes: 1000 } })).rejects.toEqual(tooLarge);
  truncateSync(join(bench.directory, 'large'), 100 * 1024 ** 3);
  await expect(bench.capture()).rejects.toEqual(tooLarge);
});

test('a very deep directory is refused and a link to its own parent is only a link', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  symlinkSync('.', join(bench.directory, 'loop'));
  expect(await bench.changed()).toEqual(['added loop']);
  let deep = bench.directory;
  for (let depth = 0; depth < 15; depth += 1) deep = join(deep, 'd'.repeat(200));
  mkdirSync(deep, { recursive: true });
  execFileSync('sh', [
    '-c',
    'cd "$1" && n=$(printf "%0200d" 1) && mkdir $n && cd $n && mkdir $n && cd $n && echo x > y',
    'sh',
    deep,
  ]);
  await expect(bench.capture()).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
});

test('the same workspace, message and time give the same commit, which a bundle carries to another host', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  writeFiles(bench.directory, { 'a.txt': 'b' });
  const first = await bench.capture();
  expect(await bench.capture()).toEqual(first);
  if (first.kind !== 'changed') throw new Error('expected a change');
  const elsewhere = await mirrorOf(bench.remote.bare);
  await ensureCommit(elsewhere, bench.base);
  await addBundle(elsewhere, await createBundle(bench.mirror, { commit: first.commit, exclude: [bench.base] }));
  expect(await hasWholeCommit(elsewhere, first.commit)).toBe(true);
});

const patient = { timeout: 60_000 };

test('with a memory, settled files are not read again and a change shows even where size and time are put back', async () => {
  const bench = await layBench({ 'a.txt': 'aaaa', 'b.txt': 'bbbb' });
  const memory = createWorkspaceMemory();
  const past = new Date('2020-01-01T00:00:00Z');
  const file = join(bench.directory, 'a.txt');
  utimesSync(file, past, past);
  await vi.waitFor(async () => {
    expect(await bench.capture({ memory })).toEqual({ kind: 'no_changes' });
    expect([...memory.keys()].toSorted()).toEqual(['a.txt', 'b.txt']);
  }, patient);
  memory.set('b.txt', { stamp: memory.get('b.txt')!.stamp, objectId: '0'.repeat(40) });
  await expect(bench.capture({ memory })).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
  memory.delete('b.txt');
  writeFileSync(file, 'AAAA');
  utimesSync(file, past, past);
  expect(await bench.changed({ memory })).toEqual(['modified a.txt']);
  expect(await bench.changed({ memory })).toEqual(['modified a.txt']);
  writeFileSync(file, 'aaaa');
  expect(await bench.capture({ memory })).toEqual({ kind: 'no_changes' });
});

test('a capture leaves nothing behind but objects and the pin', async () => {
  const bench = await layBench({ 'a.txt': 'a' });
  writeFiles(bench.directory, { 'b.txt': 'b' });
  await bench.capture();
  await bench.capture({ limits: { entries: 0 } }).catch(() => undefined);
  expect(readdirSync(join(bench.mirror.gitDirectory, '..')).filter((name) => name.startsWith('scratch'))).toEqual([]);
  expect(readdirSync(`/proc/self/fd`).length).toBeLessThan(200);
});
