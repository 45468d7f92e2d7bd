import type { Resources } from '@flotilla/host/service-definition';
import type { Model } from '@flotilla/model/model';
import { missingModel, modelPorts, openModel } from './open-model.ts';
import { openWorkplaces, type OpenWorkplaces } from './open-workplaces.ts';
import type { SlotRoom } from './slot-room.ts';

/** What planner, executor and reviewer have in common while they run. */
export class AgentService {
  readonly places: OpenWorkplaces;
  readonly model: Model;
  readonly now: () => number;

  constructor(places: OpenWorkplaces, model: Model, now: () => number) {
    this.places = places;
    this.model = model;
    this.now = now;
  }

  /** Whether the Docker engine answers now. */
  async answers(): Promise<boolean> {
    await this.places.engine.ping();
    return true;
  }

  /** Nest calls it when the stages have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.places.close();
    await this.model.close();
  }
}

/** Opens slots and model by the settings; from then on the service's stages have room for as many steps as it has slots. */
export async function openAgentService(resources: Resources, room: SlotRoom): Promise<AgentService> {
  const now = () => resources.clock().getTime();
  const model = openModel(resources.settings, modelPorts(now)) ?? missingModel();
  const places = await openWorkplaces(resources);
  room.open(resources.settings.slots);
  return new AgentService(places, model, now);
}
