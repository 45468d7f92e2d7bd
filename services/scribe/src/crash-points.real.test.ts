import { RememberStepRequested } from '@flotilla/contracts/messages/remember-step-requested';
import { judgeAgentStep } from '@flotilla/host/crash-agent-step.fixture';
import { openCrashWorld, type CrashWorld } from '@flotilla/host/crash-world.fixture';
import { createModel } from '@flotilla/model/create-model';
import type { MortalProcess } from '@flotilla/testing/crash-points/mortal-process';
import { tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { startScriptedModel, type ScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { modelPorts } from '@flotilla/workplace/open-model';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgentRunWriter } from './agent-run-writer.ts';
import { RememberRunHandler } from './remember-run.handler.ts';
import { scribeStages } from './scribe.stages.ts';
import { scribeEntities } from './store/memory-inbox.entity.ts';
import { MemoryInboxStore } from './store/memory-inbox.store.ts';
import { RunLogStore } from './store/run-log.store.ts';
import { scribeMigrations } from './store/scribe-migrations.ts';

let world: CrashWorld;
let scripted: ScriptedModel;
beforeAll(async () => {
  scripted = await startScriptedModel({ script: engineerScript({ edits: [] }) });
  world = await openCrashWorld({ migrations: scribeMigrations, entities: scribeEntities });
});
afterAll(async () => {
  await world?.close();
  await scripted?.close();
});

const now = () => Date.now();

test('a run is remembered once, whichever call the scribe dies at, and a turn whose answer was kept is not asked again', async () => {
  const model = createModel({ provider: 'compatible', model: 'scripted', baseUrl: scripted.url, ...modelPorts(now) });
  const [stage] = scribeStages;
  const live = async (mortal: MortalProcess) => {
    await world.empty();
    const runId = world.ids.newRunId();
    const deadline = new Date(now() + 600_000).toISOString();
    const asked = scripted.requests.length;
    const request = RememberStepRequested.payload.parse(RememberStepRequested.example);
    await world.publish(RememberStepRequested, { ...request, runId, deadline });
    await world.settle(mortal, {
      service: 'scribe',
      stage,
      handler: (process) => {
        const { store } = process;
        const writer = new AgentRunWriter(process.mortal.wrap('model', model, { streams: ['stream'] }), now);
        const inbox = new MemoryInboxStore(store, () => new Date());
        return process.stepHandler('scribe', new RememberRunHandler(new RunLogStore(store), inbox, writer));
      },
    });
    return judgeAgentStep(await world.endState(), mortal, scripted.requests.length - asked);
  };
  expect(await tryEveryPoint({ name: 'Remember', live })).toBeGreaterThan(30);
  await model.close();
});
