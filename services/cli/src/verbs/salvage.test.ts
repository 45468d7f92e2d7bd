import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calls } from '@flotilla/contracts/call-catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, type FleetFixture, run, token } from '../fleet.fixture.ts';

const { response } = calls.salvageRun.example;
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';
let fleet: FleetFixture;
let workingDirectory: string;
beforeEach(async () => {
  fleet = await createFleetFixture();
  workingDirectory = await mkdtemp(join(tmpdir(), 'flotilla-salvage-'));
  return async () => {
    fleet.close();
    await rm(workingDirectory, { recursive: true });
  };
});

const salvage = (...argv: string[]) =>
  run(['salvage', runId, ...argv], {
    environment: { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token },
    workingDirectory,
  });

test('what was kept is shown with where it comes from', async () => {
  const { out, err, exitCode } = await salvage('--step', 'build');
  expect([out, exitCode]).toEqual([response.diff, 0]);
  expect(err).toContain('1 file, +1 -1, kept after turn 3 of build, on aaaaaaaaaaaa');
  expect(fleet.received[0]?.request).toMatchObject({ runId, stepId: 'build' });
});

test('a file gets all parts of the commit of the first one, byte for byte', async () => {
  const parts = [Buffer.from([0xff, 0, 1]), Buffer.from('two'), Buffer.from('three')];
  fleet.answer('salvageRun', ({ offset = '0' }) => {
    const next = Number(offset) + 1;
    const patch = parts[Number(offset)]?.toString('base64');
    return { ...response, patch, ...(next < parts.length ? { next } : {}) };
  });
  const { out, exitCode } = await salvage('--out', 'work.patch');
  expect(exitCode).toBe(0);
  expect(out).toContain(`written to ${join(workingDirectory, 'work.patch')}`);
  expect(await readFile(join(workingDirectory, 'work.patch'))).toEqual(Buffer.concat(parts));
  expect(fleet.received.map(({ request }) => request['commit'])).toEqual([undefined, response.commit, response.commit]);
});

test('a file that cannot be written is named, and one that is there stays until all parts are', async () => {
  const away = join(workingDirectory, 'away', 'work.patch');
  expect(await salvage('--out', away)).toMatchObject({
    exitCode: expect.toSatisfy((code) => code !== 0),
    err: expect.stringMatching(/FILE_NOT_WRITTEN[^]*away\/work\.patch/),
  });
  const file = join(workingDirectory, 'work.patch');
  await writeFile(file, 'before', { mode: 0o640 });
  fleet.answer('salvageRun', ({ offset = '0' }) => {
    if (offset !== '0') throw new FlotillaError(errors.runArchived, { runId });
    return { ...response, next: 1 };
  });
  expect(await salvage('--out', 'work.patch')).toMatchObject({ err: expect.stringContaining('RUN_ARCHIVED') });
  expect(await readFile(file, 'utf8')).toBe('before');
  expect(await readdir(workingDirectory)).toEqual(['work.patch']);
  fleet.answer('salvageRun', () => response);
  expect((await salvage('--out', 'work.patch')).exitCode).toBe(0);
  expect(await readFile(file)).toEqual(Buffer.from(response.patch, 'base64'));
  expect((await stat(file)).mode & 0o777).toBe(0o640);
});

test('a patch goes through a link to its file, and into what is no file', async () => {
  await writeFile(join(workingDirectory, 'real'), '');
  await symlink('real', join(workingDirectory, 'link'));
  expect((await salvage('--out', 'link')).exitCode).toBe(0);
  expect(await readFile(join(workingDirectory, 'real'))).toEqual(Buffer.from(response.patch, 'base64'));
  expect((await salvage('--out', '/dev/null')).exitCode).toBe(0);
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  expect((await readdir(workingDirectory)).toSorted()).toEqual(['link', 'real']);
});

test('where nothing was kept that is said and no file is written', async () => {
  const nothing = { runId, state: 'none', files: [], diff: '', truncated: false, patch: '' };
  fleet.answer('salvageRun', () => nothing);
  const { out, exitCode } = await salvage('--out', 'work.patch');
  expect([out, exitCode]).toEqual(['nothing was kept: no agent changed a file\n', 0]);
  expect(await readdir(workingDirectory)).toEqual([]);
});
