import { readFile } from 'node:fs/promises';
import type { Settings } from '@flotilla/contracts/settings';
import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import { registryEnvironment } from '@flotilla/sandbox/registry-environment';
import { AgentService, openAgentService } from '@flotilla/workplace/agent-service';
import { SlotRoom } from '@flotilla/workplace/slot-room';
import type { DynamicModule } from '@nestjs/common';
import { BuildChangeHandler } from './build-change.handler.ts';
import { executorStages } from './executor.stages.ts';
import { SetUpProjectHandler, type SetupParts } from './set-up-project.handler.ts';
import { SetupKeeper } from './setup-keeper.ts';
import { SlotTools } from './slot-tools.ts';

class ExecutorModule {}

const KEEP_SETUPS_EVERY_MS = 3_600_000;

async function createExecutorModule(resources: Resources, room: SlotRoom): Promise<DynamicModule> {
  const { settings, objects, clock, store, logger } = resources;
  const service = await openAgentService(resources, room);
  const { places, model, now } = service;
  const { workplaces, setups, pool, engine, image } = places;
  const imageId = () => engine.imageId(image);
  const door = { ...describeDoor(settings), ...(await readCertificates(settings)) };
  return {
    module: ExecutorModule,
    providers: [
      { provide: AgentService, useFactory: () => service },
      {
        provide: SetupKeeper,
        useFactory: () =>
          new SetupKeeper({
            setups,
            store,
            keptDays: settings.setupsKeptDays,
            limitGb: settings.setupsLimitGb,
            everyMs: KEEP_SETUPS_EVERY_MS,
            onEvicted: (keys) => logger.info({ event: 'setups_evicted', keys }),
            onTrouble: (error) => logger.warn({ event: 'setup_upkeep_failed', reason: String(error) }),
          }),
      },
      {
        provide: SetUpProjectHandler,
        useFactory: () => {
          const tools = new SlotTools(pool, imageId);
          const parts = { workplaces, setups, tools, imageId, ...door };
          return room.occupying('setup', new SetUpProjectHandler(parts));
        },
      },
      {
        provide: BuildChangeHandler,
        useFactory: () => {
          const changes = { bundles: objects.changes, clock };
          return room.occupying('build', new BuildChangeHandler({ workplaces, changes, model, now }));
        },
      },
    ],
  };
}

/** The registries are reached at the addresses that the operator gave, and what else the operator listed. */
function describeDoor(settings: Settings): Pick<SetupParts, 'door' | 'environment'> {
  const { npmRegistry: npm, pipIndex: pip, doorHosts, privateRegistries } = settings;
  const given = { ...(npm === undefined ? {} : { npm }), ...(pip === undefined ? {} : { pip }) };
  const { environment, hosts } = registryEnvironment(given);
  return {
    environment,
    door: { allow: [...hosts, ...doorHosts], privateAllowed: privateRegistries ? hosts : [] },
  };
}

async function readCertificates({ certificatesFile }: Settings): Promise<Pick<SetupParts, 'certificates'>> {
  return certificatesFile === undefined ? {} : { certificates: await readFile(certificatesFile, 'utf8') };
}

function defineExecutor(room = new SlotRoom()): ServiceDefinition {
  return {
    name: 'executor',
    stages: executorStages(room),
    module: (resources) => createExecutorModule(resources, room),
    checks: (get) => ({ docker: () => get(AgentService).answers() }),
  };
}

export const executorService = defineExecutor();
