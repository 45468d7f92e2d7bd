import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import { AgentService, openAgentService } from '@flotilla/workplace/agent-service';
import { SlotRoom } from '@flotilla/workplace/slot-room';
import type { DynamicModule } from '@nestjs/common';
import { plannerStages } from './planner.stages.ts';
import { WritePlanHandler } from './write-plan.handler.ts';

class PlannerModule {}

async function createPlannerModule(resources: Resources, room: SlotRoom): Promise<DynamicModule> {
  const service = await openAgentService(resources, room);
  const { places, model, now } = service;
  return {
    module: PlannerModule,
    providers: [
      { provide: AgentService, useFactory: () => service },
      {
        provide: WritePlanHandler,
        useFactory: () => room.occupying('plan', new WritePlanHandler({ workplaces: places.workplaces, model, now })),
      },
    ],
  };
}

function definePlanner(room = new SlotRoom()): ServiceDefinition {
  return {
    name: 'planner',
    stages: plannerStages(room),
    module: (resources) => createPlannerModule(resources, room),
    checks: (get) => ({ docker: () => get(AgentService).answers() }),
  };
}

export const plannerService = definePlanner();
