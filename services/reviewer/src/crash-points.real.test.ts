import { ReviewStepRequested } from '@flotilla/contracts/messages/review-step-requested';
import { VerifyStepRequested } from '@flotilla/contracts/messages/verify-step-requested';
import { leavesTrace, tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { call, type Script } from '@flotilla/testing/scripted-model/script';
import { openCrashShop, type CrashShop } from '@flotilla/workplace/crash-shop.fixture';
import { SlotRoom } from '@flotilla/workplace/slot-room';
import { slugify } from '@flotilla/workplace/workplace.fixture';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReviewChangeHandler } from './review-change.handler.ts';
import { reviewerStages } from './reviewer.stages.ts';
import { VerifyCandidateHandler } from './verify-candidate.handler.ts';

const approving: Script = () => call('agent.finish', { verdict: 'approve', summary: 'Good.', findings: [] });
const [reviewStage, verifyStage] = reviewerStages(new SlotRoom());

let crash: CrashShop;
let change: ReturnType<CrashShop['shop']['change']>;
beforeAll(async () => {
  crash = await openCrashShop(approving);
  change = crash.shop.change({ 'slugify.js': slugify['slugify.js'].replace('[^a-z]+', '[^a-z0-9]+') });
});
afterAll(() => crash?.[Symbol.asyncDispose]());

test('a change is reviewed once, whichever call the reviewer dies at', async () => {
  const { base, work } = crash.shop;
  const example = ReviewStepRequested.payload.parse(ReviewStepRequested.example);
  const request = { ...example, ...work, base, change, grants: {} };
  const live = crash.live(ReviewStepRequested, request, {
    service: 'reviewer',
    stage: reviewStage,
    handler: async (process) => {
      const { workplaces, model } = await crash.placesOf(process);
      return process.stepHandler('reviewer', new ReviewChangeHandler({ workplaces, model, now: () => Date.now() }));
    },
  });
  expect(await tryEveryPoint({ name: 'Review', live, when: ['after'], at: leavesTrace })).toBeGreaterThan(10);
});

test('a candidate is verified once, whichever call the reviewer dies at', async () => {
  const { base, work } = crash.shop;
  const example = VerifyStepRequested.payload.parse(VerifyStepRequested.example);
  const live = crash.live(
    VerifyStepRequested,
    { ...example, ...work, base, candidate: change },
    {
      service: 'reviewer',
      stage: verifyStage,
      handler: async (process) => {
        const { workplaces } = await crash.placesOf(process);
        return process.stepHandler('reviewer', new VerifyCandidateHandler({ workplaces }));
      },
    },
  );
  expect(await tryEveryPoint({ name: 'Verify', live, when: ['after'], at: leavesTrace })).toBeGreaterThan(6);
});
