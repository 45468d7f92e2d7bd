import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import { SalvageRun } from '@flotilla/contracts/calls/salvage-run';
import { RunEnded } from '@flotilla/contracts/events/run-events';
import type { Principal, RunId, StepId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { createHostFixture, eventually, type HostFixture } from '@flotilla/host/host.fixture';
import { startService, type RunningService } from '@flotilla/host/start-service';
import { request } from '@flotilla/stream/calls';
import { openBucket } from '@flotilla/stream/open-bucket';
import { publishMessage } from '@flotilla/stream/publish-message';
import { ScratchRemote } from '@flotilla/testing/scratch-remote';
import { startRedis, type RedisServer } from '@flotilla/testing/servers/start-redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mergerService } from './merger.module.ts';
import { readRunEnd } from './read-run-end.ts';

let host: HostFixture;
let redis: RedisServer;
let remote: ScratchRemote;
let data: string;
let service: RunningService;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'merger-service-'));
  remote = new ScratchRemote({ 'a.txt': 'one\n', Makefile: 'test:\n\ttrue\n' });
  [host, redis] = await Promise.all([createHostFixture(), startRedis()]);
  const environment = { ...host.environment, REDIS_URL: redis.url, FLOTILLA_DATA_DIRECTORY: data };
  service = await startService(mergerService, { environment, output: host.output });
});
afterAll(async () => {
  await service.close();
  await Promise.all([host.close(), redis.close()]);
  remote.remove();
  rmSync(data, { recursive: true, force: true });
});

test('a repository that is opened and a change that is landed over the broker are on the remote and in the log', async () => {
  const open = OpenStepRequested.payload.parse(OpenStepRequested.example);
  const project = { ...open.project, remote: remote.path };
  await publishMessage(host.broker, OpenStepRequested, { ...open, project });
  const opened = await answerOf('open' as StepId);
  if (opened?.kind !== 'done' || opened.result.verb !== 'open') throw new Error(JSON.stringify(opened));
  const { base, bundle, repository } = opened.result;

  const commit = remote.author({ 'a.txt': 'two\n' }, base);
  const tree = remote.treeOf(commit);
  const bucket = await openBucket(host.broker, 'changes');
  expect(await bucket.has(bundle)).toBe(true);
  await bucket.put('change', remote.bundle(commit, [base]));
  const land = LandStepRequested.payload.parse(LandStepRequested.example);
  await publishMessage(host.broker, LandStepRequested, {
    ...land,
    project,
    repository,
    base: { commit: base, bundle },
    approved: { ...land.approved, commit, tree, base, bundle: 'change' },
    evidence: [{ tree, image: 'box:1', checks: ['npm test'] }],
  });
  expect(await answerOf('land' as StepId)).toMatchObject({ kind: 'done', result: { commit } });
  expect(remote.head()).toBe(commit);
  expect(await host.entries(open.runId, 'land' as StepId)).toEqual([
    'step.started',
    'change.push_started',
    'change.landed',
  ]);
});

test('a remote is asked over the broker, and what refuses it is the answer', async () => {
  expect(await request(host.broker, InspectRemote, { remote: remote.path })).toMatchObject({ branch: 'main' });
  await expect(request(host.broker, InspectRemote, { remote: join(data, 'absent') })).rejects.toMatchObject({
    code: 'REMOTE_NOT_FOUND',
  });
});

test('a repository that is not there fails the step with what to do', async () => {
  const open = OpenStepRequested.payload.parse(OpenStepRequested.example);
  const project = { ...open.project, remote: join(data, 'absent') };
  const stepId = 'open_again' as StepId;
  await publishMessage(host.broker, OpenStepRequested, { ...open, stepId, project });
  expect(await answerOf(stepId)).toMatchObject({
    kind: 'failed',
    code: 'REMOTE_NOT_FOUND',
    advice: expect.any(String),
  });
});

test('how a run ended is read from its log, and one under way has no end', async () => {
  const runId = 'run_00000000000000000000000009' as RunId;
  expect(await readRunEnd(host.store, runId)).toBeUndefined();
  const log = (entry: NewLogEntry) => host.store.transaction((transaction) => transaction.appendLog(runId, [entry]));
  await log({ type: 'run.cancel_requested', payload: { by: 'local' as Principal } });
  expect(await readRunEnd(host.store, runId)).toBeUndefined();
  await log({ type: 'run.ended', payload: RunEnded.payload.parse(RunEnded.example) });
  expect(await readRunEnd(host.store, runId)).toEqual({ result: 'landed', at: expect.any(String) });
});

test('what a run kept is asked over the broker', async () => {
  const { runId } = OpenStepRequested.payload.parse(OpenStepRequested.example);
  expect(await request(host.broker, SalvageRun, { runId })).toMatchObject({ state: 'none', patch: '' });
  const unknown = 'run_00000000000000000000000010' as RunId;
  await expect(request(host.broker, SalvageRun, { runId: unknown })).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
});

async function answerOf(stepId: StepId) {
  const { runId } = OpenStepRequested.payload.parse(OpenStepRequested.example);
  const step = { runId: runId as RunId, stepId, attempt: 1 };
  await eventually(`${stepId} is answered`, async () => (await host.answers(step)).length > 0);
  return (await host.answers(step))[0]?.outcome;
}
