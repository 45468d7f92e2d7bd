import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withFileLock } from './with-file-lock.ts';

let directory: string;
let file: string;
let ids = 0;
const options = { newId: () => `id-${(ids += 1)}`, now: () => performance.now(), deadAfterMs: 400 };

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-lock-'));
  file = path.join(directory, 'key.lock');
});
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

test('one works while the others wait, longer than a dead holder would be waited for', async () => {
  let inside = 0;
  let now = 0;
  const lastBeat = () => fs.statSync(file).mtimeMs;
  const work = () =>
    withFileLock(file, { ...options, now: () => now }, async () => {
      inside += 1;
      expect(inside).toBe(1);
      for (let beats = 0; beats < 6; beats += 1) {
        const before = lastBeat();
        await expect.poll(lastBeat).not.toBe(before);
        now += options.deadAfterMs / 4;
      }
      inside -= 1;
    });
  await Promise.all([work(), work(), work()]);
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('the lock of a holder that died is taken over', async () => {
  fs.writeFileSync(file, 'killed');
  expect(await withFileLock(file, options, async () => 'done')).toBe('done');
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('a failure gives the lock back, and a waiter may give up', async () => {
  await expect(withFileLock(file, options, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(fs.existsSync(file)).toBe(false);
  fs.writeFileSync(file, 'held');
  const waiting = withFileLock(file, { ...options, signal: AbortSignal.timeout(100) }, async () => 'never');
  await expect(waiting).rejects.toThrow();
});
