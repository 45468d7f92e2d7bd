import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusesAsCheckedOut } from './checked-out-branch.ts';
import { parseRemote } from './remote.ts';
import { createGit } from './run-git.ts';
import { makeRemote, plainGit } from './scratch.fixture.ts';

/** A clone with a work tree, in which `main` is checked out. */
function makeClone() {
  const { directory, bare } = makeRemote();
  const clone = join(directory, 'clone');
  plainGit(directory, 'clone', '-q', bare, clone);
  plainGit(clone, 'config', 'user.email', 'a@example.com');
  plainGit(clone, 'config', 'user.name', 'A');
  return { bare, clone, git: (...args: readonly string[]) => plainGit(clone, ...args) };
}
const ask = (path: string, branch = 'main') => refusesAsCheckedOut(createGit(), parseRemote(path), branch);
/** What git itself says to a push of a new commit to main. */
function pushes(path: string): boolean {
  const { clone, git } = makeClone();
  git('fetch', '-q', path, 'main');
  git('reset', '-q', '--hard', 'FETCH_HEAD');
  git('commit', '-q', '--allow-empty', '-m', 'more');
  try {
    plainGit(clone, 'push', '-q', path, 'HEAD:main');
    return true;
  } catch {
    return false;
  }
}

test('a repository that has the branch checked out refuses pushes to it, as git does', async () => {
  const { bare, clone } = makeClone();
  expect([await ask(clone), pushes(clone)]).toEqual([true, false]);
  expect(await ask(join(clone, '.git'))).toBe(true);
  expect(await ask(clone, 'release')).toBe(false);
  expect([await ask(bare), pushes(bare)]).toEqual([false, true]);
});

test.each([
  ['updateInstead', false],
  ['ignore', false],
  ['refuse', true],
])('receive.denyCurrentBranch %s counts', async (value, refused) => {
  const { clone, git } = makeClone();
  git('config', 'receive.denyCurrentBranch', value);
  expect([await ask(clone), pushes(clone)]).toEqual([refused, !refused]);
});

test('a branch that a linked work tree has checked out counts too', async () => {
  const { clone, git } = makeClone();
  git('checkout', '-q', '-b', 'release');
  expect(await ask(clone)).toBe(false);
  git('worktree', 'add', '-q', join(clone, '../linked'), 'main');
  expect([await ask(clone), pushes(clone)]).toEqual([true, false]);
});

test('a remote of another machine is not asked', async () => {
  expect(await ask('https://git.example.com/a.git')).toBe(false);
});
