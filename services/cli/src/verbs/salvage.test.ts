import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calls } from '@flotilla/contracts/call-catalogue';
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

test('where nothing was kept that is said and no file is written', async () => {
  const nothing = { runId, state: 'none', files: [], diff: '', truncated: false, patch: '' };
  fleet.answer('salvageRun', () => nothing);
  const { out, exitCode } = await salvage('--out', 'work.patch');
  expect([out, exitCode]).toEqual(['nothing was kept: no agent changed a file\n', 0]);
  expect(await readdir(workingDirectory)).toEqual([]);
});
