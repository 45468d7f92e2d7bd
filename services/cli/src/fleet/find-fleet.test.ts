import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createFleetUser, type FleetFixture, run, token } from '../fleet.fixture.ts';
import { fleetsFile, readFleets, registerFleet, unregisterFleet } from './fleets-file.ts';

let fleet: FleetFixture;
let environment: Record<string, string>;
let directory: string;
beforeEach(async () => {
  const user = await createFleetUser();
  ({ fleet, environment, directory } = user);
  return user.leave;
});

const flotilla = (...argv: string[]) => run(argv, { environment });
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';

test.each(['a\nb', 'a b', 'é'])('a token that no header can carry is a fault of whoever gave it: %j', async (bad) => {
  const { exitCode, err } = await run(['list'], { environment: { ...environment, FLOTILLA_TOKEN: bad } });
  expect([exitCode, err]).toEqual([2, expect.stringContaining('FLOTILLA_TOKEN holds')]);
});

test('the fleet of this machine is found from any folder, and gone once its process is', async () => {
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, `${token}\n`);
  const file = fleetsFile({ XDG_CONFIG_HOME: directory });
  const local = {
    url: fleet.url,
    tokenFile,
    dataDirectory: join(directory, 'clone', '.data', 'fleet'),
    pid: process.pid,
  };
  await registerFleet(file, local);
  const here = { environment: { XDG_CONFIG_HOME: directory } };
  expect((await run(['list'], here)).exitCode).toBe(0);

  await registerFleet(file, { ...local, url: 'http://127.0.0.1:1', dataDirectory: '/elsewhere/.data' });
  expect((await run(['list'], here)).err).toContain('FLEETS_SEVERAL');
  expect((await run(['list'], { ...here, workingDirectory: join(directory, 'clone', 'src') })).exitCode).toBe(0);
  expect((await run(['list', '--url', fleet.url], here)).exitCode).toBe(0);

  await unregisterFleet(file, { pid: process.pid, url: 'http://127.0.0.1:1' });
  expect(await readFleets(file)).toEqual([local]);
  await registerFleet(file, { ...local, pid: 2 ** 22 + 1 });
  expect((await run(['list'], here)).err).toContain('FLEET_NOT_FOUND');
});

test.each([
  ['approve', runId],
  ['decline', runId],
  ['request-changes', runId, 'No.'],
  ['cancel', runId],
  ['retry', runId],
])('%s says which fleet it spoke to', async (...argv) => {
  expect((await flotilla(...argv)).err).toContain(`fleet ${fleet.url}\n`);
});

test('in a clone whose fleet is dead the fleet of another clone is not used', async () => {
  const clone = join(directory, 'clone');
  await mkdir(join(clone, 'services', 'cli'), { recursive: true });
  await writeFile(join(clone, 'package.json'), '{"name": "flotilla"}');
  await writeFile(join(clone, 'services', 'cli', 'package.json'), '{}');
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, token);
  const other = { url: fleet.url, tokenFile, dataDirectory: '/other/.data/fleet', pid: process.pid };
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), other);
  const inClone = { environment: { XDG_CONFIG_HOME: directory }, workingDirectory: join(clone, 'services') };
  const { exitCode, err } = await run(['approve', runId], inClone);
  expect([exitCode, err]).toEqual([5, expect.stringContaining('FLEET_ELSEWHERE')]);
  expect(err).toContain(fleet.url);
  expect(fleet.received).toEqual([]);
  expect((await run(['list', '--url', fleet.url], inClone)).exitCode).toBe(0);
});

test('fleets that start at once do not lose one another', async () => {
  const file = join(directory, 'flotilla', 'fleets.json');
  const all = Array.from({ length: 12 }, (_, index) => ({
    url: `http://127.0.0.1:${index + 1}`,
    tokenFile: '/x',
    dataDirectory: `/clone-${index}/.data`,
    pid: process.pid,
  }));
  await Promise.all(all.map((each) => registerFleet(file, each)));
  expect(new Set((await readFleets(file)).map(({ url }) => url)).size).toBe(12);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});
