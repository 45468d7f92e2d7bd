import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseFleet } from './choose-fleet.ts';
import { findHome } from './find-home.ts';

const fleetOf = (clone: string, dataDirectory = `${clone}/.data/fleet`) => ({
  url: `http://127.0.0.1/${clone}`,
  tokenFile: '/x',
  dataDirectory,
  pid: 1,
});
const mine = fleetOf('/src/mine');
const other = fleetOf('/src/other');
const choose = (workingDirectory: string, home: string | undefined, ...running: (typeof mine & { clone?: string })[]) =>
  chooseFleet({ url: undefined, running, workingDirectory, home, ownClone: undefined }).local;

test('outside of any clone the only running fleet is taken', () => {
  expect(choose('/home/anna', undefined, other)).toBe(other);
  expect(() => choose('/home/anna', undefined, mine, other)).toThrow('Several fleets');
});

test('outside of any clone the fleet of the clone that the command line lies in is taken, and no other', () => {
  const from = (...running: readonly (typeof mine)[]) =>
    chooseFleet({
      url: undefined,
      running,
      workingDirectory: '/home/anna',
      home: undefined,
      ownClone: '/src/mine',
    });
  expect(from(mine, other)).toMatchObject({ local: mine });
  expect(() => from(other)).toThrow('/src/mine');
});

test('inside a clone its own fleet is taken', () => {
  expect(choose('/src/mine/libs', '/src/mine', other, mine)).toBe(mine);
  expect(choose('/src/mine/.data/fleet/logs', '/src/mine/.data/fleet', other, mine)).toBe(mine);
});

test.each([
  ['a clone', '/src/mine/libs', '/src/mine'],
  ['a clone within the clone of the running fleet', '/src/other/scratch/mine/libs', '/src/other/scratch/mine'],
  ['another data directory of its clone', '/src/other/.data/second/logs', '/src/other/.data/second'],
])('inside %s whose fleet does not run, another one is named and not taken', (_, workingDirectory, home) => {
  let thrown: unknown;
  try {
    choose(workingDirectory, home, other);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: 'FLEET_ELSEWHERE', message: expect.stringContaining(other.url) });
  expect(thrown).toMatchObject({ message: expect.stringContaining(home), advice: expect.stringContaining('--url') });
});

test('a fleet with its data elsewhere is that of the clone it was started from', () => {
  const moved = { ...fleetOf('/src/mine', '/var/flotilla'), clone: '/src/mine' };
  expect(choose('/src/mine/libs', '/src/mine', moved)).toBe(moved);
  expect(choose('/var/flotilla/logs', '/var/flotilla', moved)).toBe(moved);
});

test('a fleet that is named is taken wherever the command is run', () => {
  expect(
    chooseFleet({
      url: other.url,
      running: [other],
      workingDirectory: '/src/mine',
      home: '/src/mine',
      ownClone: undefined,
    }),
  ).toMatchObject({ url: other.url });
});

test('the nearest clone or data directory is home, and other packages are not', async () => {
  const root = await mkdtemp(join(tmpdir(), 'flotilla-home-'));
  const [clone, data] = [join(root, 'clone'), join(root, 'clone', '.data', 'fleet')];
  try {
    for (const directory of [join(clone, 'services', 'cli'), join(data, 'logs'), join(root, 'app', 'src')])
      await mkdir(directory, { recursive: true });
    await writeFile(join(clone, 'package.json'), '{"name": "flotilla"}');
    await writeFile(join(clone, 'services', 'cli', 'package.json'), '{"name": "@flotilla/cli"}');
    await writeFile(join(root, 'app', 'package.json'), '{"name": "flotilla-app"}');
    for (const name of ['tokens.json', 'servers.lock']) await writeFile(join(data, name), '');
    expect(await findHome(join(clone, 'services', 'cli'))).toBe(clone);
    expect(await findHome(join(data, 'logs'))).toBe(data);
    expect(await findHome(join(root, 'app', 'src'))).toBeUndefined();
  } finally {
    await rm(root, { recursive: true });
  }
});
