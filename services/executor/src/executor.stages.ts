import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { SetupStepRequested } from '@flotilla/contracts/messages/setup-step-requested';
import { stepStage } from '@flotilla/host/step-stage';
import type { SlotRoom } from '@flotilla/workplace/slot-room';
import { BuildChangeHandler } from './build-change.handler.ts';
import { SetUpProjectHandler } from './set-up-project.handler.ts';

export const executorStages = (room: SlotRoom) =>
  [
    stepStage(SetupStepRequested, SetUpProjectHandler, { concurrency: () => room.roomFor('setup') }),
    stepStage(BuildStepRequested, BuildChangeHandler, { concurrency: () => room.roomFor('build') }),
  ] as const;
