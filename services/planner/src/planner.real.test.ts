import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { publishMessage } from '@flotilla/stream/publish-message';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { openServiceBench } from '@flotilla/workplace/service.fixture';
import { keepDigits } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { plannerService } from './planner.module.ts';

test('a plan asked over the broker is answered and written to the log', async () => {
  await using bench = await openServiceBench(engineerScript({ edits: [keepDigits] }));
  const service = await bench.start(plannerService);
  const plan = PlanStepRequested.payload.parse(PlanStepRequested.example);
  const grants = { 'fs.read': true, 'fs.list': true };
  await publishMessage(bench.host.broker, PlanStepRequested, { ...plan, base: bench.base, grants });
  expect(await bench.outcomeOf(plan)).toMatchObject({ kind: 'done', result: { verb: 'plan' } });
  expect((await bench.host.entries(plan.runId, plan.stepId)).at(-1)).toBe('plan.written');
  await service.close();
  expect(bench.containers()).toEqual([]);
});
