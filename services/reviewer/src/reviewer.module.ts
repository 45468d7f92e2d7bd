import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import { AgentService, openAgentService } from '@flotilla/workplace/agent-service';
import { SlotRoom } from '@flotilla/workplace/slot-room';
import type { DynamicModule } from '@nestjs/common';
import { ReviewChangeHandler } from './review-change.handler.ts';
import { reviewerStages } from './reviewer.stages.ts';
import { VerifyCandidateHandler } from './verify-candidate.handler.ts';

class ReviewerModule {}

async function createReviewerModule(resources: Resources, room: SlotRoom): Promise<DynamicModule> {
  const service = await openAgentService(resources, room);
  const { places, model, now } = service;
  const { workplaces } = places;
  return {
    module: ReviewerModule,
    providers: [
      { provide: AgentService, useFactory: () => service },
      {
        provide: ReviewChangeHandler,
        useFactory: () => room.occupying('review', new ReviewChangeHandler({ workplaces, model, now })),
      },
      {
        provide: VerifyCandidateHandler,
        useFactory: () => room.occupying('verify', new VerifyCandidateHandler({ workplaces })),
      },
    ],
  };
}

function defineReviewer(room = new SlotRoom()): ServiceDefinition {
  return {
    name: 'reviewer',
    stages: reviewerStages(room),
    module: (resources) => createReviewerModule(resources, room),
    checks: (get) => ({ docker: () => get(AgentService).answers() }),
  };
}

export const reviewerService = defineReviewer();
