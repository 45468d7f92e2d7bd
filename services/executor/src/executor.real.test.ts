import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { SetupStepRequested } from '@flotilla/contracts/messages/setup-step-requested';
import { publishMessage } from '@flotilla/stream/publish-message';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { openServiceBench } from '@flotilla/workplace/service.fixture';
import { keepDigits } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { executorService } from './executor.module.ts';

const grants = { 'fs.read': true, 'fs.list': true, 'fs.glob': true, 'fs.edit': true, 'test.run': true } as const;

test('a setup and a build asked over the broker are answered, and a stopped service leaves no container', async () => {
  await using bench = await openServiceBench(engineerScript({ edits: [keepDigits] }));
  const { host, base } = bench;
  const service = await bench.start(executorService);
  const setup = SetupStepRequested.payload.parse(SetupStepRequested.example);
  const build = BuildStepRequested.payload.parse(BuildStepRequested.example);
  await publishMessage(host.broker, SetupStepRequested, { ...setup, base });
  await publishMessage(host.broker, BuildStepRequested, { ...build, base, grants });

  expect(await bench.outcomeOf(setup)).toMatchObject({ kind: 'done', result: { key: null } });
  expect(await bench.outcomeOf(build)).toMatchObject({
    kind: 'done',
    result: { change: { base: base.commit, files: [{ path: 'slugify.js' }] } },
  });
  const types = await host.entries(build.runId, build.stepId);
  expect(types[0]).toBe('step.started');
  expect(types).toContain('agent.checkpoint');
  expect(types.at(-1)).toBe('change.captured');

  await service.close();
  expect(bench.containers()).toEqual([]);
});
