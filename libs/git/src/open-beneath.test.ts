import { closeSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isGitLookalike } from './git-lookalike.ts';
import { openForReading, openRoot, withDirectory } from './open-beneath.ts';
import { scratchDirectory } from './scratch.fixture.ts';

function layRoot(): { path: string; root: number; outside: string } {
  const outside = scratchDirectory();
  writeFileSync(join(outside, 'secret'), 'SECRET-CANARY');
  const path = scratchDirectory();
  mkdirSync(join(path, 'a/b'), { recursive: true });
  writeFileSync(join(path, 'a/b/file'), 'ours');
  const root = openRoot(path);
  onTestFinished(() => closeSync(root));
  return { path, root, outside };
}

const names = (path: string): readonly Buffer[] => path.split('/').map((name) => Buffer.from(name));

function read(root: number, directory: string, name: string): string {
  return withDirectory(root, names(directory), (descriptor) => {
    const file = openForReading(descriptor, Buffer.from(name));
    try {
      return readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  });
}

test('a file is read through directories, never through a link in any place of its path', () => {
  const { path, root, outside } = layRoot();
  symlinkSync(outside, join(path, 'a/link'));
  symlinkSync(join(outside, 'secret'), join(path, 'a/leaf'));
  mkdirSync(join(outside, 'sub'));
  writeFileSync(join(outside, 'sub/secret'), 'SECRET-CANARY');
  expect(readFileSync(join(path, 'a/link/secret'), 'utf8')).toBe('SECRET-CANARY');
  expect(read(root, 'a/b', 'file')).toBe('ours');
  expect(() => read(root, 'a/link', 'secret')).toThrow(/ENOTDIR|ELOOP/);
  expect(() => read(root, 'a/link/sub', 'secret')).toThrow(/ENOTDIR|ELOOP/);
  expect(() => read(root, 'a', 'leaf')).toThrow(/ELOOP/);
});

test('a directory that is swapped for a link while it is open stays the directory it was', () => {
  const { path, root, outside } = layRoot();
  const content = withDirectory(root, names('a/b'), (descriptor) => {
    renameSync(join(path, 'a/b'), join(path, 'moved'));
    symlinkSync(outside, join(path, 'a/b'));
    const file = openForReading(descriptor, Buffer.from('file'));
    const text = readFileSync(file, 'utf8');
    closeSync(file);
    return text;
  });
  expect(content).toBe('ours');
  expect(() => read(root, 'a/b', 'secret')).toThrow(/ENOTDIR|ELOOP/);
});

test('a root that is a link is not followed', () => {
  const { path } = layRoot();
  const link = join(scratchDirectory(), 'link');
  symlinkSync(path, link);
  expect(() => openRoot(link)).toThrow(/ENOTDIR|ELOOP/);
});

test.each([
  '.git',
  '.GIT',
  '.git ',
  '.git . .',
  '.git::$INDEX_ALLOCATION',
  '.g\u200cit',
  '\ufeff.git',
  'git~1',
  'GIT~1',
  'git~1.',
  '.git\\x',
  '.Git:x',
])('%j is taken for .git by some file system', (name) => {
  expect(isGitLookalike(Buffer.from(name))).toBe(true);
});

test.each(['git', '.gitignore', '.github', 'x.git', '.git2', 'git~2', 'git~10', ' .git', '.gi', 'a:.git'])(
  '%j is no .git anywhere',
  (name) => {
    expect(isGitLookalike(Buffer.from(name))).toBe(false);
  },
);
