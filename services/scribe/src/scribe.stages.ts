import { RememberStepRequested } from '@flotilla/contracts/messages/remember-step-requested';
import { stepStage } from '@flotilla/host/step-stage';
import { RememberRunHandler } from './remember-run.handler.ts';

export const scribeStages = [stepStage(RememberStepRequested, RememberRunHandler, { concurrency: 4 })] as const;
