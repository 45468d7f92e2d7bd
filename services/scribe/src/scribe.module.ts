import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import { ModelLife, modelPorts, openModel } from '@flotilla/workplace/open-model';
import type { DynamicModule } from '@nestjs/common';
import { AgentRunWriter } from './agent-run-writer.ts';
import { RememberRunHandler } from './remember-run.handler.ts';
import { scribeStages } from './scribe.stages.ts';
import { scribeEntities } from './store/memory-inbox.entity.ts';
import { MemoryInboxStore } from './store/memory-inbox.store.ts';
import { RunLogStore } from './store/run-log.store.ts';
import { scribeMigrations } from './store/scribe-migrations.ts';

class ScribeModule {}

function createScribeModule({ settings, store, clock }: Resources): DynamicModule {
  const now = () => clock().getTime();
  const model = openModel(settings, modelPorts(now));
  const writer = model === undefined ? undefined : new AgentRunWriter(model, now);
  return {
    module: ScribeModule,
    providers: [
      {
        provide: RememberRunHandler,
        useFactory: () => new RememberRunHandler(new RunLogStore(store), new MemoryInboxStore(store, clock), writer),
      },
      { provide: ModelLife, useFactory: () => new ModelLife(model) },
    ],
  };
}

export const scribeService: ServiceDefinition = {
  name: 'scribe',
  stages: scribeStages,
  module: createScribeModule,
  migrations: scribeMigrations,
  entities: scribeEntities,
};
