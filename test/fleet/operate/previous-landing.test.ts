import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOwnServers, type OwnServers } from '../harness/own-servers.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from '../harness/test-fleet.ts';
import { loadFixture, type LoadedFixture } from './load-fixture.ts';

let directory: string;
let servers: OwnServers;
let left: LoadedFixture;
let fleet: TestFleet;

const ended = { landed: 'landed', declined: 'declined', cancelled: 'cancelled', failed: 'failed' } as const;
const underWay = ['gate', 'building', 'landing', 'turn', 'planning', 'opened'] as const;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-previous-'));
  servers = await startOwnServers(join(directory, 'servers'));
  left = await loadFixture('fleet-of-071a76b.json.gz', servers, directory);
  const tasks = Object.keys(left.runs).map((name) => ({
    goalIncludes: `Set ${name}.`,
    edits: [{ path: `${name}.js`, find: 'value = 0', replace: 'value = 1' }],
  }));
  fleet = await startTestFleet({ script: engineerScript({ edits: [], tasks }), servers: servers.addresses });
});

afterAll(async () => {
  await fleet?.close();
  await servers?.stop();
  await rm(directory, { recursive: true, force: true });
});

const show = async (name: string) => fleet.client.call('showRun', { runId: left.runs[name]! });

test('what ended in a fleet of the previous landing is told after the upgrade as it was before', async () => {
  const { runs } = await fleet.client.call('listRuns', { limit: 200 });
  expect(runs.map(({ runId }) => runId).toSorted()).toEqual(Object.values(left.runs).toSorted());
  for (const [name, result] of Object.entries(ended)) {
    expect(await show(name), name).toMatchObject({ run: { state: 'ended', result } });
    const log = await fleet.finish(left.runs[name]!);
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
    expect(payloadOf<{ result: string }>(log, 'run.ended').result).toBe(result);
  }
  expect((await fleet.client.call('showDiff', { runId: left.runs['landed']! })).diff).toContain('+exports.value = 1;');
  expect((await fleet.client.call('listProjects', {})).projects.map(({ name }) => name)).toEqual([
    'alpha',
    'beta',
    'gamma',
  ]);
});

test('what was under way in a fleet of the previous landing, whatever it did, goes on after the upgrade and lands once', async () => {
  expect(left.subjects.toSorted()).toEqual([
    'flotilla.step.completed',
    'flotilla.step.requested.executor.build',
    'flotilla.step.requested.merger.land',
    'flotilla.step.requested.planner.plan',
  ]);
  const logs = await Promise.all(underWay.map((name) => fleet.finish(left.runs[name]!)));
  for (const log of logs) {
    expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
    expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  }
  for (const [remote, count] of [
    ['alpha', 5],
    ['beta', 2],
  ] as const) {
    const trailers = await scratchGit(left.remoteOf(remote), [
      'log',
      '--first-parent',
      '--format=%(trailers:key=Flotilla-Run,valueonly,separator=%x2C)',
      'main',
    ]);
    const landed = trailers.split('\n').filter((run) => run !== '');
    expect(new Set(landed).size, remote).toBe(landed.length);
    expect(landed, remote).toHaveLength(count);
  }
  expect((await fleet.client.call('listDead', {})).letters).toEqual([]);
});

test('a run that failed before the upgrade is retried after it', async () => {
  const { runId } = await fleet.client.call('retryRun', { runId: left.runs['failed']! });
  expect(payloadOf<{ result: string }>(await fleet.finish(runId), 'run.ended').result).toBe('failed');
});
