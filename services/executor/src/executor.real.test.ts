import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StepId } from '@flotilla/contracts/ids';
import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { SetupStepRequested } from '@flotilla/contracts/messages/setup-step-requested';
import { createHostFixture, eventually, type HostFixture } from '@flotilla/host/host.fixture';
import { startService } from '@flotilla/host/start-service';
import { openBucket } from '@flotilla/stream/open-bucket';
import { publishMessage } from '@flotilla/stream/publish-message';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { startScriptedModel, type ScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { ScratchRemote } from '@flotilla/testing/scratch-remote';
import { keepDigits, sandboxImage, slugify } from '@flotilla/workplace/workplace.fixture';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { executorService } from './executor.module.ts';

let host: HostFixture;
let model: ScriptedModel;
let remote: ScratchRemote;
let data: string;
const installation = `test-${randomBytes(6).toString('hex')}`;
const grants = { 'fs.read': true, 'fs.list': true, 'fs.glob': true, 'fs.edit': true, 'test.run': true } as const;

beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), 'executor-service-'));
  remote = new ScratchRemote(slugify);
  model = await startScriptedModel({ script: engineerScript({ edits: [keepDigits] }) });
  host = await createHostFixture();
});
afterAll(async () => {
  await host.close();
  await model.close();
  remote.remove();
  rmSync(data, { recursive: true, force: true });
});

test('a setup and a build asked over the broker are answered, and a stopped service leaves no container', async () => {
  const service = await startService(executorService, {
    output: host.output,
    environment: {
      ...host.environment,
      FLOTILLA_DATA_DIRECTORY: data,
      FLOTILLA_INSTALLATION: installation,
      FLOTILLA_SANDBOX_IMAGE: sandboxImage(),
      FLOTILLA_MODEL: `compatible:scripted@${model.url}`,
      FLOTILLA_SLOTS: '1',
    },
  });
  const commit = remote.head();
  const base = { commit, bundle: `base/${commit}` };
  await (await openBucket(host.broker, 'changes')).put(base.bundle, remote.bundle(commit));

  const setup = SetupStepRequested.payload.parse(SetupStepRequested.example);
  await publishMessage(host.broker, SetupStepRequested, { ...setup, base });
  const build = BuildStepRequested.payload.parse(BuildStepRequested.example);
  await publishMessage(host.broker, BuildStepRequested, { ...build, base, grants });

  expect(await answerOf(setup)).toMatchObject({ kind: 'done', result: { key: null } });
  const built = await answerOf(build);
  expect(built).toMatchObject({ kind: 'done', result: { change: { base: commit, files: [{ path: 'slugify.js' }] } } });
  const types = await host.entries(build.runId, 'build' as StepId);
  expect(types[0]).toBe('step.started');
  expect(types).toContain('agent.checkpoint');
  expect(types.at(-1)).toBe('change.captured');

  await service.close();
  expect(containers()).toEqual([]);
});

async function answerOf(step: Pick<BuildStepRequested, 'runId' | 'stepId' | 'attempt'>) {
  await eventually(`${step.stepId} is answered`, async () => (await host.answers(step)).length > 0);
  return (await host.answers(step))[0]?.outcome;
}

function containers(): readonly string[] {
  const filter = `label=flotilla.installation=${installation}`;
  const listed = execFileSync('docker', ['ps', '--all', '--quiet', '--filter', filter], { encoding: 'utf8' });
  return listed.split('\n').filter((line) => line !== '');
}
