import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { beforeEach, expect, test } from 'vitest';
import { createApiClient } from '../client/api-client.ts';
import { createFleetFixture, token } from '../fleet.fixture.ts';
import type { Session } from '../session.ts';
import { choosePalette } from '../text/paint.ts';
import { renderChecks } from '../text/render-checks.ts';
import { createDoctor } from './doctor.ts';

let fleet: Awaited<ReturnType<typeof createFleetFixture>>;
let directory: string;
beforeEach(async () => {
  fleet = await createFleetFixture();
  directory = await mkdtemp(join(tmpdir(), 'flotilla-doctor-'));
  return async () => {
    fleet.close();
    await rm(directory, { recursive: true });
  };
});

/** Runs the doctor with a machine that answers so. */
async function examine(machine: string, json = true, url = fleet.url, missing?: FlotillaError) {
  const script = join(directory, 'doctor.mjs');
  await writeFile(script, `process.stdout.write(${JSON.stringify(machine)}); process.exitCode = 1;`);
  const { signal } = new AbortController();
  const said: string[] = [];
  const api = createApiClient({ url, token }, signal);
  const session = {
    fleet: () => Promise.resolve({ url, token }),
    api: () => (missing === undefined ? Promise.resolve(api) : Promise.reject(missing)),
    out: (text: string) => void said.push(text),
    note: () => undefined,
    palette: choosePalette(false),
    json,
    signal,
  };
  // The doctor reaches nothing else of a session.
  const exitCode = await createDoctor(() => Promise.resolve(script)).run({}, session as unknown as Session);
  await api.close();
  return { exitCode, out: said.join('\n') };
}

const healthy = JSON.stringify({ ok: true, checks: [{ id: 'git.version', title: 'git', ok: true, detail: '2.39.5' }] });
const failedOf = (out: string) =>
  (JSON.parse(out) as { checks: { id: string; ok: boolean; fix?: string }[] }).checks
    .filter(({ ok }) => !ok)
    .map(({ id }) => id);

test('the machine and the fleet are one report, as one JSON document', async () => {
  const { exitCode, out } = await examine(healthy);
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    checks: [{ id: 'git.version' }, { id: 'fleet.answers' }, { id: 'fleet.ready' }, { id: 'fleet.router' }],
  });
});

test('a fleet whose broker is dead is not well, though it answers', async () => {
  fleet.needs = { postgres: true, nats: false };
  fleet.answer('listDead', () => {
    throw new FlotillaError(errors.brokerUnavailable, { reason: 'it is gone' });
  });
  const { exitCode, out } = await examine(healthy);
  expect(exitCode).toBe(1);
  expect(failedOf(out)).toEqual(['fleet.ready', 'fleet.router']);
  const { out: text } = await examine(healthy, false);
  expect(text).toMatch(/✗ fleet ready +FLEET_NOT_READY: .* does not reach nats\n +→ /);
  expect(text).not.toContain('Everything is as it should be');
});

test('no fleet, and a machine without a report, are failures with what to do', async () => {
  expect(failedOf((await examine('no report', true, 'http://127.0.0.1:1')).out)).toEqual(['machine', 'fleet.answers']);
});

test.each([errors.fleetNotFound, errors.fleetElsewhere])(
  'in a clone a fleet that was not started yet is told and fails nothing: %o',
  async (definition) => {
    const missing = new FlotillaError(definition, { home: '/clone', running: 'another' });
    const { exitCode, out } = await examine(healthy, true, fleet.url, missing);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, checks: [{}, { id: 'fleet.answers', ok: true, note: true }] });
    expect((await examine(healthy, false, fleet.url, missing)).out).toMatch(/· fleet .*\n +→ .*npm start/);
  },
);

test('what the next start of the machine does by itself is told and fails nothing', async () => {
  const check = { id: 'docker.image', title: 'sandbox image', ok: true, note: true, detail: 'missing', fix: 'Start.' };
  const { exitCode, out } = await examine(JSON.stringify({ ok: true, checks: [check] }), false);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^· sandbox image +missing\n +→ Start\./);
  expect(out).toContain('comes with "npm start"');
});

test('the table puts the remedy below the failure and sums up', () => {
  const results = [
    { id: 'git.version', title: 'git', ok: true, detail: '2.39.5' },
    { id: 'memory', title: 'memory', ok: false, detail: '1.0 GB', fix: 'Add some.' },
  ];
  expect(renderChecks(results)).toBe(
    '✓ git     2.39.5\n✗ memory  1.0 GB\n          → Add some.\n\n1 of 2 checks failed.',
  );
});
