import { errors } from '@flotilla/errors/catalogue';
import { expect, test } from 'vitest';
import { isGitName, parsePath, parseWritablePath, showName } from './contained-path.ts';

const refused = expect.objectContaining({ code: errors.pathRefused.code });

test.each([
  ['src/a.ts', ['src', 'a.ts']],
  ['./src//a.ts/', ['src', 'a.ts']],
  ['/workspace/src/a.ts', ['src', 'a.ts']],
  ['/workspace', []],
  ['.', []],
  ['-rf', ['-rf']],
  ['a:b', ['a:b']],
  ['..a/b..', ['..a', 'b..']],
])('%j names %j', (path, components) => {
  expect(parsePath(path)).toEqual(components);
});

test.each([
  '/etc/passwd',
  '/workspaces/x',
  '../x',
  'a/../b',
  'a/..',
  'a\0b',
  'a\nb',
  'a\rb',
  'a\x1bb',
  'a\u0085b',
  'x'.repeat(256),
  'a/'.repeat(3000),
])('the path %j is refused', (path) => {
  expect(() => parsePath(path)).toThrow(refused);
});

test.each([
  '.',
  '',
  'a\u202eb',
  'a\u{e0041}b',
  'a\u200db',
  'a ',
  ' a/b',
  '.git',
  '.git/config',
  'sub/.git/config',
  '.GIT/config',
  '.git /config',
  '.git./x',
  'GIT~1/config',
  '.g\u200cit/config',
  '.git::$INDEX_ALLOCATION/x',
  '.ｇit/config',
])('the path %j is refused for writing', (path) => {
  expect(() => parseWritablePath(path)).toThrow(refused);
});

test.each(['.gitignore', '.github/workflows/ci.yml', 'git', 'a.git', '.gitmodules', 'git~x'])(
  "the name %j is not git's",
  (path) => {
    expect(parseWritablePath(path)).toEqual(path.split('/'));
    expect(isGitName(path)).toBe(false);
  },
);

test('what is shown of a name holds no character that a terminal or an eye obeys', () => {
  expect(showName('a\x1b[2Jb\u202ec\u{e0041}')).toBe('a\\u{1b}[2Jb\\u{202e}c\\u{e0041}');
  expect(showName('grüße 日本.txt')).toBe('grüße 日本.txt');
});
