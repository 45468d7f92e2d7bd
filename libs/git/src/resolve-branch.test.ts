import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureCommit } from './ensure-commit.ts';
import { resolveBranch } from './resolve-branch.ts';
import { makeRemote, mirrorOf, plainGit } from './scratch.fixture.ts';

test('the default branch is the one that the HEAD of the remote names', async () => {
  const remote = makeRemote();
  remote.push('trunk');
  remote.read('symbolic-ref', 'HEAD', 'refs/heads/trunk');
  const commit = remote.read('rev-parse', 'trunk');
  await expect(resolveBranch(await mirrorOf(remote.bare))).resolves.toEqual({ branch: 'trunk', commit });
});

test('a named branch is read from the remote as it is now', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  const before = await resolveBranch(mirror, 'main');
  const after = remote.checkout.commit({ 'a.txt': 'a' });
  remote.push();
  expect(before.commit).not.toBe(after);
  expect((await resolveBranch(mirror, 'main')).commit).toBe(after);
});

test('a repository without a commit is empty, not broken', async () => {
  const remote = makeRemote(null);
  await expect(resolveBranch(await mirrorOf(remote.bare))).rejects.toMatchObject({
    code: 'REMOTE_EMPTY',
    remedy: 'caller',
  });
});

test('an unborn default branch beside other branches asks for a branch and lists them', async () => {
  const remote = makeRemote();
  remote.push('other');
  remote.read('symbolic-ref', 'HEAD', 'refs/heads/unborn');
  const failure = resolveBranch(await mirrorOf(remote.bare));
  await expect(failure).rejects.toMatchObject({
    code: 'BRANCH_UNKNOWN',
    advice: 'Name one of its branches: main, other.',
  });
});

test('an unknown branch is told with the branches that there are', async () => {
  const failure = resolveBranch(await mirrorOf(makeRemote().bare), 'mian');
  await expect(failure).rejects.toMatchObject({ code: 'BRANCH_UNKNOWN', advice: 'Name one of its branches: main.' });
});

test('a local work tree, its .git and a file URL serve as remotes', async () => {
  const { checkout, bare } = makeRemote();
  const commit = checkout.git('rev-parse', 'HEAD');
  for (const address of [checkout.directory, join(checkout.directory, '.git'), `file://${bare}`]) {
    const mirror = await mirrorOf(address);
    const head = await resolveBranch(mirror);
    expect(head.commit).toBe(commit);
    await ensureCommit(mirror, head.commit);
  }
});

test('a branch that is not there is told with the ones that are spelt nearest', async () => {
  const remote = makeRemote();
  for (let n = 0; n < 12; n += 1) plainGit(remote.bare, 'branch', `a-${n}`, 'main');
  plainGit(remote.bare, 'branch', 'release/2', 'main');
  await expect(resolveBranch(await mirrorOf(remote.bare), 'relaese/2')).rejects.toMatchObject({
    code: 'BRANCH_UNKNOWN',
    advice: expect.stringMatching(/: release\/2, .* and 4 more\.$/),
  });
});

test('a directory that stopped being a repository is not found', async () => {
  const remote = makeRemote();
  const mirror = await mirrorOf(remote.bare);
  writeFileSync(join(remote.bare, 'HEAD'), 'garbage\n');
  await expect(resolveBranch(mirror)).rejects.toMatchObject({ code: 'REMOTE_NOT_FOUND', remedy: 'caller' });
});

test('a host that refuses connections is a failure of the network, to be tried again', async () => {
  const mirror = await mirrorOf('http://127.0.0.1:9/nothing.git');
  await expect(resolveBranch(mirror)).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE', remedy: 'retry' });
});

test.skipIf(process.getuid?.() !== 0)('a local repository of another user is refused with advice', async () => {
  const remote = makeRemote();
  const chown = (path: string): void => {
    chownSync(path, 1000, 1000);
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory()) chown(join(path, entry.name));
  };
  chown(remote.bare);
  await expect(resolveBranch(await mirrorOf(remote.bare))).rejects.toMatchObject({
    code: 'REMOTE_OWNED_BY_SOMEONE_ELSE',
  });
});

test('a shallow clone as a remote is served or told plainly, never half taken', async () => {
  const remote = makeRemote();
  remote.checkout.commit({ 'a.txt': '2' });
  remote.push();
  const shallow = join(remote.directory, 'shallow');
  mkdirSync(shallow);
  plainGit(remote.directory, 'clone', '-q', '--depth=1', `file://${remote.bare}`, shallow);
  const mirror = await mirrorOf(shallow);
  const { commit } = await resolveBranch(mirror);
  await expect(ensureCommit(mirror, commit)).rejects.toMatchObject({ code: 'REMOTE_NOT_CLONEABLE' });
});
