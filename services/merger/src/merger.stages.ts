import { LandStepRequested } from '@flotilla/contracts/messages/land-step-requested';
import { OpenStepRequested } from '@flotilla/contracts/messages/open-step-requested';
import { stepStage } from '@flotilla/host/step-stage';
import { LandChangeHandler } from './land-change.handler.ts';
import { OpenRepositoryHandler } from './open-repository.handler.ts';

export const mergerStages = [
  stepStage(OpenStepRequested, OpenRepositoryHandler, { concurrency: 4 }),
  stepStage(LandStepRequested, LandChangeHandler, { concurrency: 4 }),
] as const;
