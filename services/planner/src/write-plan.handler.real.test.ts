import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { call, type Script } from '@flotilla/testing/scripted-model/script';
import { missingModel } from '@flotilla/workplace/open-model';
import { keepDigits, openShop, type Shop } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { WritePlanHandler } from './write-plan.handler.ts';

test('a plan comes from a look at the base commit and is handed on', async () => {
  await using shop = await openShop(engineerScript({ edits: [keepDigits] }));
  const context = new MemoryStepContext();
  const answer = await plan(shop).work(request(shop), context);
  expect(answer.outcome).toMatchObject({
    kind: 'done',
    result: { verb: 'plan', plan: expect.stringContaining('slugify.js') },
  });
  expect(StepCompleted.payload.safeParse({ ...StepCompleted.example, ...answer }).error).toBeUndefined();
  expect(answer.entries).toMatchObject([{ type: 'plan.written' }]);
  expect(JSON.stringify(context.payloads('tool.finished'))).toContain('slugify.test.js');
  expect(context.payloads('agent.checkpoint')).toEqual([]);
  expect(shop.containers()).toEqual([]);
});

test('a planner changes nothing, whatever its grants say', async () => {
  const script: Script = ({ calls }) =>
    calls.length === 0 ? call('terminal.run', { command: 'touch x' }) : call('agent.finish', { plan: 'Do it.' });
  await using shop = await openShop(script);
  const context = new MemoryStepContext();
  await plan(shop).work({ ...request(shop), grants: { 'terminal.run': true } }, context);
  expect(context.payloads('tool.started')).not.toContainEqual(expect.objectContaining({ tool: 'terminal.run' }));
});

test('without a configured model the step fails and says what to set', async () => {
  await using shop = await openShop(() => call('agent.finish', { plan: 'x' }));
  const handler = new WritePlanHandler({ workplaces: shop.workplaces, model: missingModel(), now: () => Date.now() });
  const answer = await handler.work(request(shop), new MemoryStepContext());
  expect(answer.outcome).toMatchObject({
    kind: 'failed',
    code: 'MODEL_NOT_CONFIGURED',
    advice: expect.stringContaining('FLOTILLA_MODEL'),
  });
});

function plan({ workplaces, model }: Shop): WritePlanHandler {
  return new WritePlanHandler({ workplaces, model, now: () => Date.now() });
}

function request({ work, base }: Shop): PlanStepRequested {
  const example = PlanStepRequested.payload.parse(PlanStepRequested.example);
  const grants = { 'fs.read': true, 'fs.list': true, 'fs.glob': true };
  return { ...example, ...work, base, grants };
}
