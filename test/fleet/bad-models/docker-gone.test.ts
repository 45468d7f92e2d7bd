import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDockerEngine } from '@flotilla/dev/docker-engine';
import { silentReport } from '@flotilla/dev/report';
import { ensureSandboxImage } from '@flotilla/dev/sandbox-image';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import type Dockerode from 'dockerode';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPrivateDocker, type PrivateDocker } from '../../chaos/world/private-docker.ts';
import { calculator, makeSmallRemote } from '../harness/small-remote.ts';
import { payloadOf, startTestFleet, type TestFleet } from '../harness/test-fleet.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { slotsLeft } from './slots-left.ts';

let fleet: TestFleet;
let directory: string;
let machine: Dockerode;
let image: string;
let engine: PrivateDocker;
const script = engineerScript({
  edits: [calculator.edit],
  tasks: [{ goalIncludes: '[long]', edits: [calculator.edit], commands: ['sleep 3; echo slept'] }],
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-docker-'));
  const shared = { environment: process.env, report: silentReport };
  machine = (await ensureDockerEngine(shared)).docker;
  image = (await ensureSandboxImage({ ...shared, docker: machine })).image;
  engine = await startPrivateDocker({
    directory: join(directory, 'engine'),
    socketDirectory: directory,
    from: machine,
    image,
  });
  const settings = { DOCKER_HOST: engine.host, FLOTILLA_SLOTS_READY: '0' };
  fleet = await startTestFleet({ script, settings });
  await fleet.addProject('shop', await makeSmallRemote(directory, 'shop', calculator.files));
});
afterAll(async () => {
  await fleet.close();
  await engine.stop();
  await rm(directory, { recursive: true, force: true });
});

test('an engine that dies in the middle of a command is waited for, and the step goes on from what was kept', async () => {
  const run = await fleet.submit('shop', `[long] ${calculator.goal}`);
  await fleet.until(run, 'agent.checkpoint');
  await waitUntil('the command runs', async () => (await callsOf(run, 'tool.started')).includes('sleep 3'));
  await engine.kill();
  await waitUntil('the step waits', async () =>
    (await callsOf(run, 'step.attempt_failed')).includes('DOCKER_UNAVAILABLE'),
  );
  await engine.start();

  const log = await fleet.until(run, 'gate.opened');
  const waits = log.filter(({ type }) => type === 'step.attempt_failed').map(({ payload }) => payload);
  expect(waits).toContainEqual(expect.objectContaining({ code: 'DOCKER_UNAVAILABLE', waiting: true }));
  const notes = log.filter(({ type }) => type === 'agent.nudge').map(({ payload }) => payload);
  expect(notes).toContainEqual(expect.objectContaining({ code: 'WORKSPACE_RESTORED' }));
  const files = [{ path: calculator.edit.path, status: 'modified', additions: 1, deletions: 1 }];
  expect(payloadOf(log, 'change.captured')).toMatchObject({ change: { files } });
  await fleet.client.call('cancelRun', { runId: run });
  await fleet.finish(run);
  await expectNothingLeft(run);
});

test('an image that is removed while the fleet runs fails a run with what to do, and once it is back the run is done again', async () => {
  await waitUntil(
    'no slot uses the image',
    async () => (await engine.docker.listContainers({ all: true })).length === 0,
  );
  await engine.docker.getImage(image).remove({ force: true });
  const run = await fleet.submit('shop', calculator.goal);
  expect(payloadOf(await fleet.finish(run), 'run.ended')).toMatchObject({
    result: 'failed',
    code: 'SANDBOX_IMAGE_MISSING',
    message: expect.stringContaining(image),
    advice: expect.stringContaining('flotilla doctor'),
  });
  await expectNothingLeft(run);

  const load = await engine.docker.loadImage(await machine.getImage(image).get());
  await new Promise((resolve, reject) =>
    engine.docker.modem.followProgress(load, (error) => (error ? reject(error) : resolve(undefined))),
  );
  const { runId } = await fleet.client.call('retryRun', { runId: run });
  await fleet.until(runId, 'gate.opened');
});

async function callsOf(runId: Parameters<TestFleet['until']>[0], type: string): Promise<string> {
  const { entries } = await fleet.client.call('listEvents', { runId, type: [type], limit: 500 });
  return JSON.stringify(entries);
}

async function expectNothingLeft(run: Parameters<TestFleet['until']>[0]): Promise<void> {
  const { dataDirectory } = fleet.fleet;
  await waitUntil(
    'the slots of the run are gone',
    async () => (await slotsLeft(run, dataDirectory, engine.docker)).length === 0,
  );
}
