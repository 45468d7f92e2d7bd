import { ReviewStepRequested } from '@flotilla/contracts/messages/review-step-requested';
import { VerifyStepRequested } from '@flotilla/contracts/messages/verify-step-requested';
import { stepStage } from '@flotilla/host/step-stage';
import type { SlotRoom } from '@flotilla/workplace/slot-room';
import { ReviewChangeHandler } from './review-change.handler.ts';
import { VerifyCandidateHandler } from './verify-candidate.handler.ts';

export const reviewerStages = (room: SlotRoom) =>
  [
    stepStage(ReviewStepRequested, ReviewChangeHandler, { concurrency: () => room.roomFor('review') }),
    stepStage(VerifyStepRequested, VerifyCandidateHandler, { concurrency: () => room.roomFor('verify') }),
  ] as const;
