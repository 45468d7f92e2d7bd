import fs from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { PoolFixture } from './sandbox.fixture.ts';
import { claim, openPool } from './sandbox.fixture.ts';
import type { Slot } from './slot.ts';

const mebibyte = 1024 ** 2;

let fixture: PoolFixture;
let slot: Slot;

beforeAll(async () => {
  fixture = await openPool({
    ready: 1,
    limits: {
      memoryBytes: 256 * mebibyte,
      processes: 128,
      openFiles: 1024,
      temporaryBytes: 32 * mebibyte,
      workspaceBytes: 64 * mebibyte,
      workspaceEntries: 5000,
      fileBytes: 128 * mebibyte,
    },
  });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});
beforeEach(async () => {
  slot = await fixture.pool.claim(claim());
});
/** Whatever the command did, its slot goes, with container and directory. */
afterEach(async () => {
  await slot.destroy();
  expect(await fixture.engine.listContainers(`flotilla.slot=${slot.id}`)).toEqual([]);
  expect(fs.existsSync(slot.directory)).toBe(false);
  expect(fixture.faults).toEqual([]);
});

const shell = (command: string, options?: Parameters<Slot['run']>[1]) => slot.run({ shell: command }, options);
const goesOn = async () => expect((await shell('echo alive')).output).toBe('alive\n');

test('a disk that is filled in an instant is told of with the command that did it, and can be emptied', async () => {
  const filled = await shell('for n in $(seq 20); do fallocate -l 100M f$n; done; echo filled');
  expect(filled).toMatchObject({ killedBy: 'disk', exitCode: 137 });
  expect(filled.reason).toContain('over its limit of 67108864 bytes');
  expect(await shell('rm f*; echo emptied')).toMatchObject({ killedBy: undefined, output: 'emptied\n' });
  await goesOn();
});

test('files that are more than the workspace may hold are told of with the command that made them', async () => {
  const made = await shell('mkdir many && cd many && seq 20000 | xargs touch');
  expect(made).toMatchObject({ killedBy: 'disk', reason: 'the workspace is over its limit of 5000 files' });
  expect(await shell('rm -r many')).toMatchObject({ exitCode: 0, killedBy: undefined });
  await goesOn();
});

test('a slot with directories five thousand deep goes on and goes', async () => {
  await shell(`python3 -c "
import os
for _ in range(5000):
  os.mkdir('d'); os.chdir('d')
"`);
  expect((await slot.files.list('.')).entries).toMatchObject([{ name: 'd', kind: 'directory' }]);
  await goesOn();
});

test('a sparse file of a hundred gigabytes is not made', async () => {
  const result = await shell('truncate -s 100G big');
  expect(result.exitCode).not.toBe(0);
  expect(result.output).toMatch(/File (too large|size limit exceeded)/);
  await goesOn();
});

test('a hundred thousand open files end at the limit of the slot', async () => {
  const result = await shell(`python3 -c "
held = []
for n in range(100000): held.append(open('/dev/null'))
"`);
  expect(result.exitCode).toBe(1);
  expect(result.output).toContain('Too many open files');
  await goesOn();
});

test('memory that is eaten through files in /tmp ends at the limit of /tmp', async () => {
  const result = await shell('head -c 300000000 /dev/zero > /tmp/big; stat -c %s /tmp/big');
  expect(result.output).toContain('No space left on device');
  expect(result.output).toContain(String(32 * mebibyte));
  await goesOn();
});
