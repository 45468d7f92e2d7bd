import { lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommitId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { ensureCommit } from './ensure-commit.ts';
import { layTree } from './lay-tree.ts';
import type { Mirror } from './mirror.ts';
import { listTree, readFileAt } from './read-tree.ts';
import { emptyWorkspace, makeRemote, mirrorOf, plainGit, type ScratchRemote } from './scratch.fixture.ts';
import { makeThrowAwayRepository } from './throw-away-repository.ts';

async function open(remote: ScratchRemote): Promise<{ mirror: Mirror; commit: CommitId }> {
  remote.push();
  const commit = CommitId.parse(remote.read('rev-parse', 'main'));
  const mirror = await mirrorOf(remote.bare);
  await ensureCommit(mirror, commit);
  return { mirror, commit };
}

test('names that are odd survive byte for byte', async () => {
  const remote = makeRemote();
  const names = [
    '-rf',
    '--output=x',
    'a\nb',
    'q"uote',
    "it's",
    'sp ace ',
    ' tab\there',
    '\u202e',
    'c:d',
    '*',
    'back\\slash',
    ':(top)x',
  ].map((name) => Buffer.from(name));
  names.push(Buffer.from([0x66, 0xff, 0xfe]));
  for (const name of names) writeFileSync(Buffer.concat([Buffer.from(`${remote.checkout.directory}/`), name]), name);
  remote.checkout.commit({});
  const { mirror, commit } = await open(remote);
  const directory = emptyWorkspace();
  await layTree(mirror, { commit, directory });
  const laid = readdirSync(directory, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
  expect(laid.toSorted()).toEqual([...names.map((name) => name.toString('latin1')), 'readme.md'].toSorted());
  for (const name of names) expect(readFileSync(Buffer.concat([Buffer.from(`${directory}/`), name]))).toEqual(name);
});

test('what attributes in the tree say changes nothing that is laid', async () => {
  const files = {
    '.gitattributes':
      '* text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n/tests export-ignore\n*.s export-subst\n[attr]x -text\n',
    'crlf.txt': 'a\r\nb\n',
    'a.id': '$Id$\n',
    'a.u16': 'text\n',
    'tests/a.test.js': 'test\n',
    'a.s': '$Format:%H$\n',
  };
  const remote = makeRemote();
  remote.checkout.git('config', 'core.attributesFile', '/dev/null');
  writeFileSync(
    join(remote.checkout.directory, '.git/info/attributes'),
    '* -text !eol !ident !working-tree-encoding\n',
  );
  remote.checkout.commit(files);
  const { mirror, commit } = await open(remote);
  const directory = emptyWorkspace();
  plainGit(remote.directory, 'clone', '-q', remote.bare, 'control');
  expect(readFileSync(join(remote.directory, 'control/a.id'), 'utf8')).not.toBe(files['a.id']);
  expect(readFileSync(join(remote.directory, 'control/crlf.txt'), 'utf8')).not.toBe(files['crlf.txt']);
  await layTree(mirror, { commit, directory });
  for (const [path, content] of Object.entries(files))
    expect(readFileSync(join(directory, path), 'utf8')).toBe(content);
});

test('links are laid as links, wherever they point, and modes as they are', async () => {
  const remote = makeRemote();
  symlinkSync('/etc/passwd', join(remote.checkout.directory, 'outside'));
  symlinkSync('../..', join(remote.checkout.directory, 'up'));
  writeFileSync(join(remote.checkout.directory, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  remote.checkout.commit({});
  const { mirror, commit } = await open(remote);
  const directory = emptyWorkspace();
  await layTree(mirror, { commit, directory });
  expect(readlinkSync(join(directory, 'outside'))).toBe('/etc/passwd');
  expect(readlinkSync(join(directory, 'up'))).toBe('../..');
  expect(lstatSync(join(directory, 'run.sh')).mode & 0o100).toBe(0o100);
  expect(lstatSync(join(directory, 'readme.md')).mode & 0o100).toBe(0);
});

test('a submodule is an empty directory and is reported, all else is laid', async () => {
  const remote = makeRemote({ 'a.txt': 'a' });
  const id = remote.checkout.git('rev-parse', 'HEAD');
  remote.checkout.git('update-index', '--add', '--cacheinfo', `160000,${id},lib/sub`);
  remote.checkout.git('commit', '-q', '-m', 'Add a submodule');
  const { mirror, commit } = await open(remote);
  const directory = emptyWorkspace();
  expect(await layTree(mirror, { commit, directory })).toEqual({ submodules: ['lib/sub'] });
  expect(readdirSync(join(directory, 'lib/sub'))).toEqual([]);
  expect(readFileSync(join(directory, 'a.txt'), 'utf8')).toBe('a');
});

test.skipIf(process.getuid?.() !== 0)(
  'everything laid belongs to the owner, and what links point to does not',
  async () => {
    const remote = makeRemote({ 'deep/er/a.txt': 'a' });
    const target = join(remote.directory, 'target');
    writeFileSync(target, '');
    symlinkSync(target, join(remote.checkout.directory, 'link'));
    remote.checkout.commit({});
    const { mirror, commit } = await open(remote);
    const directory = emptyWorkspace();
    const owner = { uid: 1000, gid: 1000 };
    await layTree(mirror, { commit, directory, owner });
    await makeThrowAwayRepository(mirror, { commit, directory, owner });
    for (const path of ['.', 'deep', 'deep/er/a.txt', 'link', '.git', '.git/index', '.git/config'])
      expect(lstatSync(join(directory, path)).uid).toBe(1000);
    expect(statSync(target).uid).toBe(0);
  },
);

test('the throw-away repository knows the tree as one commit, without remote, history or hooks', async () => {
  const remote = makeRemote({ 'a.txt': 'a\n', '.gitignore': 'dist\n' });
  remote.checkout.commit({ 'a.txt': 'b\n' });
  const { mirror, commit } = await open(remote);
  const directory = emptyWorkspace();
  await layTree(mirror, { commit, directory });
  await makeThrowAwayRepository(mirror, { commit, directory, branch: 'work', exclude: ['node_modules'] });
  writeFileSync(join(directory, 'node_modules'), '');
  expect(plainGit(directory, 'status', '--porcelain', '--branch')).toBe('## work');
  expect(plainGit(directory, 'rev-list', '--count', 'HEAD')).toBe('1');
  expect(plainGit(directory, 'rev-parse', 'HEAD^{tree}')).toBe(remote.read('rev-parse', 'main^{tree}'));
  expect(plainGit(directory, 'fsck', '--full')).toBe('');
  expect(plainGit(directory, 'config', '--list', '--local')).not.toMatch(/remote|flotilla-git|url/);
  writeFileSync(join(directory, 'a.txt'), 'c\n');
  expect(plainGit(directory, 'diff')).toContain('-b\n+c');
  plainGit(directory, 'commit', '-q', '-am', 'Mine');
  await expect(makeThrowAwayRepository(mirror, { commit, directory })).rejects.toThrow('EEXIST');
});

test('a tree is listed and its files are read without a work tree', async () => {
  const remote = makeRemote({ 'a/b.txt': 'hello', 'c.txt': 'x'.repeat(100) });
  const { mirror, commit } = await open(remote);
  expect((await listTree(mirror, commit)).map(({ path, kind, sizeBytes }) => [path, kind, sizeBytes])).toEqual([
    ['a/b.txt', 'file', 5],
    ['c.txt', 'file', 100],
  ]);
  expect(String(await readFileAt(mirror, { commit, path: 'a/b.txt', limitBytes: 10 }))).toBe('hello');
  for (const path of ['a', 'nope', '', '../a/b.txt', ':(top)c.txt', '*.txt']) {
    expect(await readFileAt(mirror, { commit, path, limitBytes: 1000 }).catch(() => undefined)).toBeUndefined();
  }
  await expect(readFileAt(mirror, { commit, path: 'c.txt', limitBytes: 10 })).rejects.toMatchObject({
    code: 'COMMITTED_FILE_TOO_LARGE',
  });
});
