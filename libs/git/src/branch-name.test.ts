import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseBranchName, toBranchRef } from './branch-name.ts';

test.each(['main', 'feature/x', 'release-1.2', 'ünï', 'a@b', '@', 'heads/refs', 'x{y}', 'a.lock.b'])(
  '%s is a branch name',
  (name) => {
    expect(toBranchRef(parseBranchName(name))).toBe(`refs/heads/${name}`);
  },
);

test.each([
  '',
  '-x',
  '--output=PWNED',
  '--upload-pack=touch x',
  'HEAD',
  'a..b',
  'a b',
  'a~1',
  'a^',
  'a:b',
  'a?',
  'a*',
  'a[b',
  'a\\b',
  'a@{1}',
  '/a',
  'a/',
  'a//b',
  '.a',
  'a/.b',
  'a.lock',
  'a.lock/b',
  'a.',
  'a\u0000b',
  'a\nb',
  'a\u007fb',
  '\ud800',
  'x'.repeat(300),
])('%j is refused as a branch name', (name) => {
  expect(() => parseBranchName(name)).toThrow(expect.objectContaining({ code: 'BRANCH_NAME_REFUSED' }));
});

test('our rules agree with those of git', () => {
  const letters = fc.constantFrom(
    'a',
    'b',
    '.',
    '/',
    '-',
    '@',
    '{',
    '~',
    ':',
    ' ',
    '.lock',
    'HEAD',
    '\\',
    'é',
    '*',
    '?',
    '[',
    '^',
    '..',
  );
  const names = fc.array(letters, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(names, (name) => {
      const git = spawnSync('git', ['check-ref-format', '--branch', name], {
        cwd: '/',
        env: { PATH: process.env['PATH'], GIT_DIR: '/dev/null' },
      });
      // `@{-1}` is a question to a repository, not a name; git says no without one, and so do we.
      expect({ name, taken: isTaken(name) }).toEqual({ name, taken: git.status === 0 });
    }),
    { numRuns: 150 },
  );
});

function isTaken(name: string): boolean {
  try {
    parseBranchName(name);
    return true;
  } catch {
    return false;
  }
}
