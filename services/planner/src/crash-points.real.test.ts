import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { leavesTrace, tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { call, type Script } from '@flotilla/testing/scripted-model/script';
import { openCrashShop } from '@flotilla/workplace/crash-shop.fixture';
import { SlotRoom } from '@flotilla/workplace/slot-room';
import { expect, test } from 'vitest';
import { plannerStages } from './planner.stages.ts';
import { WritePlanHandler } from './write-plan.handler.ts';

const script: Script = ({ calls }) =>
  calls.length === 0 ? call('fs.read', { path: 'slugify.js' }) : call('agent.finish', { plan: 'Keep digits.' });

test('a plan is written once, whichever call the planner dies at, and no slot is left', async () => {
  await using crash = await openCrashShop(script);
  const { base, work } = crash.shop;
  const request = {
    ...PlanStepRequested.payload.parse(PlanStepRequested.example),
    ...work,
    base,
    grants: { 'fs.read': true },
  } as const;
  const [stage] = plannerStages(new SlotRoom());
  const live = crash.live(PlanStepRequested, request, {
    service: 'planner',
    stage,
    handler: async (process) => {
      const { workplaces, model } = await crash.placesOf(process);
      return process.stepHandler('planner', new WritePlanHandler({ workplaces, model, now: () => Date.now() }));
    },
  });
  expect(await tryEveryPoint({ name: 'Plan', live, when: ['after'], at: leavesTrace })).toBeGreaterThan(12);
});
