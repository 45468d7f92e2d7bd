import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DirectoryHandle } from './directory-handle.ts';
import { listDirectory } from './list-directory.ts';
import { measureTree } from './measure-tree.ts';
import { removeTree } from './remove-tree.ts';

let directory: string;
let parent: DirectoryHandle;

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-tree-'));
  parent = DirectoryHandle.openTrusted(directory);
});
afterEach(() => {
  parent[Symbol.dispose]();
  fs.rmSync(directory, { recursive: true, force: true });
});

test('removal takes links away and leaves what they point to', async () => {
  fs.mkdirSync(path.join(directory, 'victim'));
  fs.writeFileSync(path.join(directory, 'victim/canary'), 'alive');
  fs.mkdirSync(path.join(directory, 'tree/a/b/c'), { recursive: true });
  fs.symlinkSync('../victim', path.join(directory, 'tree/to-victim'));
  fs.symlinkSync('/', path.join(directory, 'tree/a/b/to-root'));
  fs.symlinkSync('.', path.join(directory, 'tree/a/loop'));
  await removeTree(parent, 'tree');
  expect(fs.readdirSync(directory)).toEqual(['victim']);
  expect(fs.readFileSync(path.join(directory, 'victim/canary'), 'utf8')).toBe('alive');
});

test('removal of a link named as the tree takes the link', async () => {
  fs.mkdirSync(path.join(directory, 'victim'));
  fs.symlinkSync('victim', path.join(directory, 'tree'));
  await removeTree(parent, 'tree');
  expect(fs.readdirSync(directory)).toEqual(['victim']);
});

test('a tree too deep to name and a locked directory are removed', async () => {
  let deepest = DirectoryHandle.openTrusted(directory);
  deepest.makeDirectory('tree');
  const first = deepest.openDirectory('tree');
  deepest[Symbol.dispose]();
  deepest = first;
  for (let depth = 0; depth < 400; depth += 1) {
    deepest.makeDirectory('nested-directory');
    const next = deepest.openDirectory('nested-directory');
    deepest[Symbol.dispose]();
    deepest = next;
  }
  deepest[Symbol.dispose]();
  fs.mkdirSync(path.join(directory, 'tree/locked/inside'), { recursive: true });
  fs.chmodSync(path.join(directory, 'tree/locked'), 0);
  await removeTree(parent, 'tree');
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('names that are no text, and names that removal itself uses, are removed too', async () => {
  const bad = Buffer.from([0x66, 0xff, 0xfe, 0x80]);
  const below = (...names: readonly (string | Buffer)[]) =>
    Buffer.concat([
      Buffer.from(`${directory}/tree`),
      ...names.flatMap((name) => [Buffer.from('/'), Buffer.from(name)]),
    ]);
  fs.mkdirSync(below('sub', bad, bad), { recursive: true });
  fs.mkdirSync(below('.flotilla-removed-1', 'full'), { recursive: true });
  for (const file of [below(bad), below('sub', bad, 'file'), below('sub', bad, bad, bad)]) fs.writeFileSync(file, 'x');
  using tree = parent.openDirectory('tree');
  expect((await measureTree(tree, { bytes: 1e6, entries: 100 })).entries).toBe(8);
  expect(listDirectory(tree, 10).entries.map(({ name }) => name)).toEqual([
    '.flotilla-removed-1',
    'f\ufffd\ufffd\ufffd',
    'sub',
  ]);
  await removeTree(parent, 'tree');
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('removing what is not there is fine', async () => {
  await removeTree(parent, 'tree');
});

test('a measurement counts blocks once, follows no link and stops at the limit', async () => {
  fs.mkdirSync(path.join(directory, 'tree/sub'), { recursive: true });
  fs.writeFileSync(path.join(directory, 'tree/a'), Buffer.alloc(1_000_000));
  fs.linkSync(path.join(directory, 'tree/a'), path.join(directory, 'tree/sub/again'));
  fs.writeFileSync(path.join(directory, 'tree/sparse'), '');
  fs.truncateSync(path.join(directory, 'tree/sparse'), 100 * 1024 ** 3);
  fs.symlinkSync('/usr', path.join(directory, 'tree/to-usr'));
  using root = parent.openDirectory('tree');
  const size = await measureTree(root, { bytes: 2_000_000, entries: 100 });
  expect(size).toMatchObject({ entries: 5, beyond: false });
  expect(size.bytes).toBeGreaterThan(999_000);
  expect(size.bytes).toBeLessThan(1_100_000);
  expect((await measureTree(root, { bytes: 500_000, entries: 100 })).beyond).toBe(true);
  expect((await measureTree(root, { bytes: 2_000_000, entries: 2 })).beyond).toBe(true);
});
