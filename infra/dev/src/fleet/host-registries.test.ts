import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readHostRegistries } from './host-registries.ts';

let directory = '';
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'flotilla-registries-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A machine whose commands are ours, before those of the real one. */
function machineWith(commands: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  for (const [name, script] of Object.entries(commands)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return { PATH: [directory, '/usr/bin', '/bin'].join(delimiter), HOME: directory, ...environment };
}
const never = () => Promise.reject(new Error('asked the sandbox'));
const unconfigured = { npm: 'exit 1', pip3: 'echo "ERROR: No such key" >&2; exit 1' };
const says = (index: string) => ({ python3: `echo ${index}` });

test('what pip is configured with counts, the environment before its files', async () => {
  const pip3 = 'echo https://index.example.com/simple';
  const machine = machineWith({ ...unconfigured, pip3, ...says('https://own.example.com/simple files.example.com') });
  expect(await readHostRegistries(machine, never)).toMatchObject({ pip: 'https://index.example.com/simple' });
  expect(
    await readHostRegistries({ ...machine, PIP_INDEX_URL: 'https://environment.example.com/simple' }, never),
  ).toMatchObject({ pip: 'https://environment.example.com/simple' });
});

test('a pip that was never configured says itself where it goes, for the index and for the files', async () => {
  const machine = machineWith({ ...unconfigured, ...says('https://own.example.com/simple files.example.com') });
  expect(await readHostRegistries(machine, never)).toMatchObject({
    pip: 'https://own.example.com/simple',
    pipFilesHost: 'files.example.com',
  });
});

test('where the machine has no pip, the one of the sandbox is asked', async () => {
  const machine = machineWith({ ...unconfigured, python3: 'echo "No module named pip" >&2; exit 1' });
  const asked: string[] = [];
  const askSandbox = (script: string) => {
    asked.push(script);
    return Promise.resolve('https://sandbox.example.com/simple files.example.com\n');
  };
  expect(await readHostRegistries(machine, askSandbox)).toMatchObject({
    pip: 'https://sandbox.example.com/simple',
    pipFilesHost: 'files.example.com',
  });
  expect(asked).toHaveLength(1);
});

test.each(['', 'Traceback', 'ftp://x y'])('an answer such as %j names no index', async (answer) => {
  const machine = machineWith({ ...unconfigured, python3: 'exit 1' });
  expect((await readHostRegistries(machine, () => Promise.resolve(answer))).pip).toBeUndefined();
  expect((await readHostRegistries(machine, never)).pip).toBeUndefined();
});
