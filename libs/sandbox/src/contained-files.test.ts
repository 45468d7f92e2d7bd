import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContainedFiles } from './contained-files.ts';
import { createContainedFiles } from './contained-files.ts';
import { DirectoryHandle } from './directory-handle.ts';

const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const canary = 'canary-5a1f9';

let base: string;
let root: DirectoryHandle;
let files: ContainedFiles;
const inside = (...names: string[]) => path.join(base, 'workspace', ...names);
const outside = (...names: string[]) => path.join(base, 'outside', ...names);
const refused = (error: { readonly code: string }) => expect.objectContaining({ code: error.code });

beforeEach(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-files-'));
  fs.mkdirSync(inside());
  fs.mkdirSync(outside());
  fs.writeFileSync(outside('victim'), canary);
  root = DirectoryHandle.openTrusted(inside());
  files = createContainedFiles(root, user);
});
afterEach(() => {
  root[Symbol.dispose]();
  fs.rmSync(base, { recursive: true, force: true });
});

const untouched = () => expect(fs.readFileSync(outside('victim'), 'utf8')).toBe(canary);

describe('a link leads nowhere outside', () => {
  test('a link in the place of a file is neither written, edited nor deleted through (A01)', async () => {
    fs.symlinkSync('../outside/victim', inside('notes.txt'));
    // The fixture is live: whoever follows the link reads the victim.
    expect(fs.readFileSync(inside('notes.txt'), 'utf8')).toBe(canary);
    await expect(files.write('notes.txt', 'x')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.edit('notes.txt', [{ find: 'canary', replace: 'x' }])).rejects.toThrow(
      refused(errors.pathRefused),
    );
    await expect(files.delete('notes.txt')).rejects.toThrow('is a symbolic link to ../outside/victim');
    await expect(files.read('notes.txt')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.readBytes('notes.txt')).rejects.toThrow(refused(errors.pathRefused));
    expect(() => files.stat('notes.txt')).toThrow(refused(errors.pathRefused));
    untouched();
    await files.write('neighbour.txt', 'fine');
    expect((await files.read('neighbour.txt')).text).toBe('fine');
  });

  test('a link in the place of a parent is not gone through (A02)', async () => {
    fs.symlinkSync('../outside', inside('esc'));
    fs.symlinkSync('/', inside('slash'));
    expect(fs.readFileSync(inside('esc/victim'), 'utf8')).toBe(canary);
    await expect(files.write('esc/new', 'x')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.read('esc/victim')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.list('esc')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.delete('esc/victim')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.delete('esc', { recursive: true })).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.read('slash/etc/passwd')).rejects.toThrow(refused(errors.pathRefused));
    expect(fs.existsSync(outside('new'))).toBe(false);
    untouched();
  });

  test('.. behind a link is refused and never resolved by its letters (A10)', async () => {
    fs.mkdirSync(inside('a'));
    fs.writeFileSync(inside('secret'), 'by letters');
    fs.symlinkSync('../../outside', inside('a/link'));
    fs.writeFileSync(path.join(base, 'secret'), 'by the file system');
    await expect(files.read('a/link/../secret')).rejects.toThrow(refused(errors.pathRefused));
    await expect(files.read('a/link/victim')).rejects.toThrow(refused(errors.pathRefused));
  });

  test('a link inside is read, and what it leads to is named', async () => {
    await files.write('lib/real.txt', 'text');
    fs.symlinkSync('real.txt', inside('lib/near'));
    fs.symlinkSync('../lib', inside('lib/around'));
    fs.symlinkSync('/workspace/lib', inside('absolute'));
    fs.symlinkSync('lib/around/./near', inside('chain'));
    for (const name of ['lib/near', 'lib/around/near', 'absolute/real.txt', 'chain']) {
      expect(await files.read(name)).toMatchObject({ path: 'lib/real.txt', text: 'text' });
      expect(files.resolve(name)).toBe('lib/real.txt');
      await expect(files.read(name, { followLinks: false })).rejects.toThrow(refused(errors.pathRefused));
      await expect(files.write(name, 'x')).rejects.toThrow(refused(errors.pathRefused));
    }
    expect(files.resolve('lib/around')).toBe('lib');
    expect((await files.list('absolute')).path).toBe('lib');
    expect((await files.read('lib/real.txt', { followLinks: false })).text).toBe('text');
  });

  test('a loop of links is refused in time (A14)', async () => {
    fs.symlinkSync('b', inside('a'));
    fs.symlinkSync('a', inside('b'));
    fs.symlinkSync('.', inside('self'));
    await expect(files.read('a')).rejects.toThrow('too many symbolic links');
    expect(files.resolve('self/self/self')).toBe('.');
  });

  test('a link that leaves and comes back is refused', async () => {
    await files.write('file', 'x');
    fs.symlinkSync('../workspace/file', inside('back'));
    expect(fs.readFileSync(inside('back'), 'utf8')).toBe('x');
    await expect(files.read('back')).rejects.toThrow('out of the workspace');
  });
});

describe('what is not a plain file is left alone', () => {
  test('a file with another name is not written, and a new file takes the place of the old (A05)', async () => {
    fs.linkSync(outside('victim'), inside('h'));
    await expect(files.write('h', 'x')).rejects.toThrow('hard link');
    await expect(files.edit('h', [{ find: 'canary', replace: 'x' }])).rejects.toThrow('hard link');
    untouched();
    await files.write('own', 'one');
    const before = fs.statSync(inside('own')).ino;
    await files.write('own', 'two');
    expect(fs.statSync(inside('own')).ino).not.toBe(before);
  });

  test('a pipe, a socket and a device do not hold anybody up', async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('mkfifo', [inside('pipe')]);
    await expect(files.read('pipe')).rejects.toThrow(refused(errors.fileKindWrong));
    await expect(files.write('pipe', 'x')).rejects.toThrow(refused(errors.fileKindWrong));
  });

  test('a directory is no file and a file no directory', async () => {
    await files.write('dir/file', 'x');
    await expect(files.read('dir')).rejects.toThrow(refused(errors.fileKindWrong));
    await expect(files.write('dir', 'x')).rejects.toThrow(refused(errors.fileKindWrong));
    await expect(files.list('dir/file')).rejects.toThrow(refused(errors.fileKindWrong));
    await expect(files.read('dir/file/x')).rejects.toThrow(refused(errors.fileMissing));
    await expect(files.write('dir/file/x', 'x')).rejects.toThrow(refused(errors.fileKindWrong));
    await expect(files.read('none')).rejects.toThrow(refused(errors.fileMissing));
    expect(files.stat('none')).toBeUndefined();
    expect(files.stat('.')).toMatchObject({ path: '.', kind: 'directory' });
  });
});

test.each([
  '.git/config',
  '.GIT/config',
  '.git /config',
  'GIT~1/config',
  '.g\u200cit/config',
  'a/.git/hooks/pre-commit',
])('nothing is written to %j (A12)', async (name) => {
  await expect(files.write(name, 'x')).rejects.toThrow(refused(errors.pathRefused));
  await expect(files.delete(name)).rejects.toThrow(refused(errors.pathRefused));
  expect(fs.readdirSync(inside())).toEqual([]);
});

test('hostile names are refused, or shown so that they do nothing (A11)', async () => {
  for (const name of [
    'a\nb',
    'a\x1b[31mb',
    'right\u202eleft',
    'tag\u{e0041}',
    '-rf',
    'trailing ',
    'a:b',
    'x'.repeat(255),
  ]) {
    fs.writeFileSync(inside(name), 'x');
  }
  const { entries } = await files.list('.');
  expect(entries).toHaveLength(8);
  for (const { name } of entries) expect(name).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect((await files.read('-rf')).text).toBe('x');
  await expect(files.read('a\nb')).rejects.toThrow(refused(errors.pathRefused));
});

describe('reading', () => {
  test('a part of a file is given by lines, and says that there is more', async () => {
    await files.write('lines', Array.from({ length: 100_000 }, (_, line) => `line ${line + 1}\n`).join(''));
    expect(await files.read('lines', { startLine: 99_999, lines: 1 })).toMatchObject({
      text: 'line 99999\n',
      lines: 1,
      truncated: true,
    });
    expect(await files.read('lines', { startLine: 99_999 })).toMatchObject({
      text: 'line 99999\nline 100000\n',
      lines: 2,
      truncated: false,
    });
    expect(await files.read('lines', { startLine: 200_000 })).toMatchObject({ text: '', lines: 0, truncated: false });
    expect(await files.read('lines', { limitBytes: 10 })).toMatchObject({
      text: 'line 1\nlin',
      lines: 2,
      truncated: true,
    });
    expect((await files.read('lines')).truncated).toBe(true);
  });

  test('a limit cuts no character, and a file that is no text says so', async () => {
    await files.write('umlauts', 'äöü');
    expect((await files.read('umlauts', { limitBytes: 3 })).text).toBe('ä');
    await files.write('binary', new Uint8Array([1, 0, 2]));
    await expect(files.read('binary')).rejects.toThrow(refused(errors.fileNotText));
    expect(await files.readBytes('binary')).toEqual(Buffer.from([1, 0, 2]));
  });

  test('a hundred gigabytes of nothing cost nothing (A14)', async () => {
    fs.writeFileSync(inside('sparse'), '');
    fs.truncateSync(inside('sparse'), 100 * 1024 ** 3);
    await expect(files.read('sparse')).rejects.toThrow(refused(errors.fileNotText));
    await expect(files.readBytes('sparse')).rejects.toThrow(refused(errors.fileTooLarge));
    await expect(files.edit('sparse', [{ find: 'a', replace: 'b' }])).rejects.toThrow(refused(errors.fileTooLarge));
  });

  test('a list stops at its limit, however long the directory is (A14)', async () => {
    for (let n = 0; n < 3000; n += 1) fs.writeFileSync(inside(`f${String(n).padStart(4, '0')}`), '');
    const { entries, truncated } = await files.list('.', { limit: 10 });
    expect(entries.map(({ name }) => name).at(-1)).toBe('f0009');
    expect(truncated).toBe(true);
  });
});

describe('writing', () => {
  test('makes directories, keeps the mode of what it replaces, belongs to the sandbox user and leaves no temporary file', async () => {
    expect(await files.write('a/b/run.sh', 'one', { executable: true })).toEqual({
      path: 'a/b/run.sh',
      created: true,
      bytes: 3,
    });
    expect(await files.write('a/b/run.sh', 'two')).toMatchObject({ created: false });
    const facts = fs.statSync(inside('a/b/run.sh'));
    expect(facts.mode & 0o777).toBe(0o755);
    expect([facts.uid, facts.gid]).toEqual([user.uid, user.gid]);
    expect(fs.readdirSync(inside('a/b'))).toEqual(['run.sh']);
    await expect(files.write('big', new Uint8Array(17 * 1024 ** 2))).rejects.toThrow(refused(errors.fileTooLarge));
  });

  test('an edit is made once and wholly, or not at all', async () => {
    await files.write('code', 'one two two three\r\n');
    await expect(files.edit('code', [{ find: 'two', replace: '2' }])).rejects.toThrow('occurs 2 times');
    await expect(files.edit('code', [{ find: 'four', replace: '4' }])).rejects.toThrow('does not occur');
    await expect(
      files.edit('code', [
        { find: 'one', replace: '1' },
        { find: 'no', replace: '' },
      ]),
    ).rejects.toThrow(refused(errors.editRefused));
    expect((await files.read('code')).text).toBe('one two two three\r\n');
    expect(
      await files.edit('code', [
        { find: 'one', replace: '$&' },
        { find: 'two', replace: '2', all: true },
      ]),
    ).toEqual({ path: 'code', replacements: 3 });
    expect((await files.read('code')).text).toBe('$& 2 2 three\r\n');
  });

  test('a directory is deleted only when that was meant', async () => {
    await files.write('a/b/c', 'x');
    await expect(files.delete('a')).rejects.toThrow(refused(errors.fileKindWrong));
    await expect(files.delete('.', { recursive: true })).rejects.toThrow(refused(errors.pathRefused));
    await files.delete('a', { recursive: true });
    expect(fs.readdirSync(inside())).toEqual([]);
  });
});
