import { PlanStepRequested } from '@flotilla/contracts/messages/plan-step-requested';
import { stepStage } from '@flotilla/host/step-stage';
import type { SlotRoom } from '@flotilla/workplace/slot-room';
import { WritePlanHandler } from './write-plan.handler.ts';

export const plannerStages = (room: SlotRoom) =>
  [stepStage(PlanStepRequested, WritePlanHandler, { concurrency: () => room.roomFor('plan') })] as const;
