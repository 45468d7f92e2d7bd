import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { reapCredentials } from './reap-credentials.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-credentials-'));
  return () => rm(directory, { recursive: true });
});

const dead = String(spawnSync(process.execPath, ['--version']).pid);
const lay = (...files: readonly (readonly [name: string, text: string])[]) =>
  Promise.all(files.map(([name, text]) => writeFile(join(directory, name), text, { mode: 0o600 })));

test('a credential whose project was never added goes, and those of projects, operators and commands under way stay', async () => {
  await lay(
    ['orphan.json', '{}'],
    ['orphan.json.adding', dead],
    [`half.json.${dead}`, '{'],
    ['added.json', '{}'],
    ['added.json.adding', dead],
    ['by-hand.json', '{}'],
    ['under-way.json', '{}'],
    ['under-way.json.adding', String(process.pid)],
  );
  expect(await reapCredentials(directory, async () => new Set(['added']))).toEqual(['orphan']);
  expect((await readdir(directory)).toSorted()).toEqual([
    'added.json',
    'by-hand.json',
    'under-way.json',
    'under-way.json.adding',
  ]);
});

test('no project is asked for where nothing is marked', async () => {
  await lay(['by-hand.json', '{}']);
  const findUsed = () => Promise.reject(new Error('nobody asks'));
  expect(await reapCredentials(directory, findUsed)).toEqual([]);
  expect(await reapCredentials(join(directory, 'absent'), findUsed)).toEqual([]);
});
