import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { DirectoryHandle } from './directory-handle.ts';
import { measureTree } from './measure-tree.ts';

const roomy = { bytes: 1e12, entries: 1_000_000 };

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-measure-'));
  return () => fs.rmSync(directory, { recursive: true, force: true });
});

/** Two levels down, and more than are counted in one go. */
function makeMany(files: number, content: string): void {
  const inner = path.join(directory, 'outer', 'inner');
  fs.mkdirSync(inner, { recursive: true });
  for (let file = 0; file < files; file += 1) fs.writeFileSync(path.join(inner, `f${file}`), content);
}

async function measure(limits: typeof roomy) {
  using root = DirectoryHandle.openTrusted(directory);
  return await measureTree(root, limits);
}

test('everything below counts, however many members a directory has', async () => {
  makeMany(1200, 'x');
  const { bytes, entries, beyond } = await measure(roomy);
  expect([entries, beyond]).toEqual([1202, false]);
  expect(bytes).toBeGreaterThanOrEqual(1200 * 4096);
});

test('it stops at the limit that is passed first, of bytes or of entries', async () => {
  makeMany(1200, 'x');
  expect(await measure({ ...roomy, entries: 900 })).toMatchObject({ entries: 901, beyond: true });
  expect(await measure({ ...roomy, bytes: 900 * 4096 })).toMatchObject({ beyond: true });
});

test('a sparse file counts what it holds, and a file with two names once', async () => {
  fs.writeFileSync(path.join(directory, 'sparse'), '');
  fs.truncateSync(path.join(directory, 'sparse'), 1e9);
  expect((await measure(roomy)).bytes).toBe(0);
  fs.writeFileSync(path.join(directory, 'a'), 'x'.repeat(100_000));
  const { bytes } = await measure(roomy);
  fs.linkSync(path.join(directory, 'a'), path.join(directory, 'b'));
  expect((await measure(roomy)).bytes).toBe(bytes);
});

test('a tree nested deeper than anything sensible is beyond every limit', async () => {
  fs.mkdirSync(path.join(directory, 'd/'.repeat(300)), { recursive: true });
  expect((await measure(roomy)).beyond).toBe(true);
});
