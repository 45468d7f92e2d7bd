import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { SetupStepRequested } from '@flotilla/contracts/messages/setup-step-requested';
import type { MessageLife } from '@flotilla/host/crash-world.fixture';
import { createSetupStore } from '@flotilla/sandbox/setup-store';
import { leavesTrace, tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { call, type Script } from '@flotilla/testing/scripted-model/script';
import { openCrashShop, type CrashShop } from '@flotilla/workplace/crash-shop.fixture';
import { SlotRoom } from '@flotilla/workplace/slot-room';
import { slugify } from '@flotilla/workplace/workplace.fixture';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { BuildChangeHandler } from './build-change.handler.ts';
import { executorStages } from './executor.stages.ts';
import { SetUpProjectHandler } from './set-up-project.handler.ts';

/** Does anew what the workspace lost, as any model that is told so. */
const script: Script = ({ calls, messages }) => {
  const restored = messages.findLastIndex(({ text }) => text.includes('(WORKSPACE_RESTORED)'));
  const made = calls.some(({ tool, status, at }) => at > restored && tool === 'terminal.run' && status === 'ok');
  return made
    ? call('agent.finish', { summary: 'Noted.' })
    : call('terminal.run', { command: 'echo once >> NOTES.md' });
};
const [setupStage, buildStage] = executorStages(new SlotRoom());

let crash: CrashShop;
beforeAll(async () => {
  crash = await openCrashShop(script, { ...slugify, '.gitignore': 'deps/\n' });
});
afterAll(() => crash?.[Symbol.asyncDispose]());

test('a change is built once, whichever call the executor dies at', async () => {
  const { base, work } = crash.shop;
  const example = BuildStepRequested.payload.parse(BuildStepRequested.example);
  const grants = { 'terminal.run': true } as const;
  const live = crash.live(
    BuildStepRequested,
    { ...example, ...work, base, grants, verification: 'off' },
    {
      service: 'executor',
      stage: buildStage,
      handler: async (process) => {
        const { workplaces, bundles, model } = await crash.placesOf(process);
        const changes = { bundles, clock: () => new Date('2030-01-01T00:00:00Z') };
        const work = new BuildChangeHandler({ workplaces, changes, model, now: () => Date.now() });
        return process.stepHandler('executor', work);
      },
    },
  );
  expect(await tryEveryPoint({ name: 'Build', live, when: ['after'], at: leavesTrace })).toBeGreaterThan(15);
});

test('dependencies are set up once, whichever call the executor dies at', async () => {
  const { base, work, imageId } = crash.shop;
  const example = SetupStepRequested.payload.parse(SetupStepRequested.example);
  const request = {
    ...example,
    repository: work.repository,
    base,
    project: { ...example.project, setup: ['mkdir -p deps'] },
  };
  const directory = mkdtempSync(join(tmpdir(), 'crash-setups-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  let made = 0;
  const life: MessageLife = {
    service: 'executor',
    stage: setupStage,
    handler: async (process) => {
      const { workplaces } = await crash.placesOf(process);
      // Those of a holder that shows no sign of life any more.
      for (const name of readdirSync(directory)) if (name.endsWith('.lock')) rmSync(join(directory, name));
      const setups = createSetupStore({ directory, newId: () => `${(made += 1)}`, now: () => performance.now() });
      const work = new SetUpProjectHandler({
        workplaces,
        setups: process.mortal.wrap('setups', setups),
        tools: { list: () => Promise.resolve(new Set<string>()) },
        imageId,
        door: { allow: [], privateAllowed: [] },
        environment: {},
      });
      return process.stepHandler('executor', work);
    },
  };
  const empty = () => {
    for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
  };
  const live = crash.live(SetupStepRequested, request, life, empty);
  expect(await tryEveryPoint({ name: 'SetUp', live, when: ['after'], at: leavesTrace })).toBeGreaterThan(5);
});
