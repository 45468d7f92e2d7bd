import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const sources = fs
  .readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name))
  .map((name) => ({ name, text: fs.readFileSync(path.join(import.meta.dirname, name), 'utf8') }));

const filesWith = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

test('no process is started on the host, and one file speaks to the engine (D08)', () => {
  expect(filesWith(/child_process|worker_threads|\beval\(|new Function/)).toEqual([]);
  expect(filesWith(/dockerode/)).toEqual(['docker-engine.ts']);
  expect(filesWith(/startExec\(/)).toEqual([
    'docker-engine.ts',
    'door-forwarder.ts',
    'kill-tree.ts',
    'launcher.ts',
    'run-command.ts',
  ]);
});

test('the archive interface of the engine is not used (C05)', () => {
  expect(filesWith(/putArchive|getArchive|infoArchive/)).toEqual([]);
});

test('time, randomness and the environment come in as values', () => {
  expect(filesWith(/Date\.now|Math\.random|process\.env|randomUUID|performance\.now/)).toEqual([]);
});
