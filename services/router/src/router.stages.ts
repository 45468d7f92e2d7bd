import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import { stage } from '@flotilla/stream/stage';
import { AcceptTaskHandler } from './accept-task.handler.ts';
import { CompleteStepHandler } from './complete-step.handler.ts';

const budget = { attempts: 5, delaysMs: [500, 2_000, 10_000] };

/** What the router takes. */
export const routerStages = [
  stage(TaskSubmitted, AcceptTaskHandler, { budget, concurrency: 8 }),
  stage(StepCompleted, CompleteStepHandler, { budget, concurrency: 32 }),
];
