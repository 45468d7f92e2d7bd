import { catalogue } from '@flotilla/contracts/catalogue';
import { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import { request } from '@flotilla/stream/calls';
import { purgeAcknowledged } from '@flotilla/stream/purge-acknowledged';
import type { DynamicModule } from '@nestjs/common';
import { AcceptTaskHandler } from './accept-task.handler.ts';
import { ArchiveRunsCall } from './archive/archive-runs.ts';
import { ArchiveSweeper } from './archive/archive-sweeper.ts';
import { createArchive } from './archive/create-archive.ts';
import { CompleteStepHandler } from './complete-step.handler.ts';
import { createDeadStream } from './dead-stream.ts';
import type { Advance } from './domain/decision.ts';
import { describeMove } from './describe-move.ts';
import { loadTopologies, shippedTopologies } from './load-topologies.ts';
import { DeadLetters } from './dead-letters.ts';
import { QueueSweeper } from './queue-sweeper.ts';
import { createRouterCalls } from './router.calls.ts';
import { routerStages } from './router.stages.ts';
import { RunSweeper } from './run-sweeper.ts';
import { routerEntities } from './store/entities.ts';
import { IntakeStore } from './store/intake.store.ts';
import { ProjectStore } from './store/project.store.ts';
import { routerMigrations } from './store/router-migrations.ts';
import { RunStore } from './store/run.store.ts';
import { SweepStore } from './store/sweep.store.ts';

const SWEEP_EVERY_MS = 5_000;
const SWEEP_QUEUES_EVERY_MS = 60_000;

class RouterModule {}

function createRouterModule(resources: Resources): DynamicModule {
  const { store, clock, ids, broker, logger, metrics, settings } = resources;
  const onTrouble = (task: string, error: unknown) =>
    logger.warn({ event: 'sweep_failed', task, reason: String(error) });
  const ports = { store, clock, newGateId: ids.newGateId, tell: ({ run }: Advance) => logger.info(describeMove(run)) };
  const sweeps = new SweepStore(store, clock);
  const archive = createArchive(resources);
  metrics.observeGates(() => sweeps.countOpenGates());
  return {
    module: RouterModule,
    providers: [
      { provide: RunStore, useFactory: () => new RunStore(ports) },
      {
        provide: IntakeStore,
        useFactory: () =>
          new IntakeStore({
            ...ports,
            newRunId: ids.newRunId,
            slips: loadTopologies((warning) => logger.warn({ event: 'topology_warning', ...warning })),
            sessionMode: settings.runMode,
          }),
      },
      { provide: ProjectStore, useFactory: () => new ProjectStore({ store, clock }) },
      { provide: SweepStore, useFactory: () => sweeps },
      { provide: DeadLetters, useFactory: () => new DeadLetters(createDeadStream(broker, ids.newToken)) },
      {
        provide: AcceptTaskHandler,
        inject: [IntakeStore],
        useFactory: (intake: IntakeStore) =>
          new AcceptTaskHandler(intake, (subject, text) => broker.nc.publish(subject, text)),
      },
      {
        provide: CompleteStepHandler,
        inject: [RunStore],
        useFactory: (runs: RunStore) => new CompleteStepHandler(runs),
      },
      {
        provide: RunSweeper,
        inject: [RunStore, SweepStore],
        useFactory: (runs: RunStore, sweeps: SweepStore) =>
          new RunSweeper({ runs, sweeps, everyMs: SWEEP_EVERY_MS, onTrouble }),
      },
      { provide: ArchiveRunsCall, useFactory: () => archive.call },
      { provide: ArchiveSweeper, useFactory: () => archive.sweeper },
      {
        provide: QueueSweeper,
        useFactory: () =>
          new QueueSweeper({
            purge: () => purgeAcknowledged(broker, catalogue),
            onReconnect: (listener) => broker.onReconnect(listener),
            everyMs: SWEEP_QUEUES_EVERY_MS,
            onPurged: (messages) => logger.info({ event: 'acknowledged_purged', messages }),
            onTrouble: (error) => onTrouble('purge_acknowledged', error),
          }),
      },
    ],
  };
}

export const routerService: ServiceDefinition = {
  name: 'router',
  stages: routerStages,
  module: createRouterModule,
  calls: (get, { broker }) =>
    createRouterCalls({
      intake: get(IntakeStore),
      runs: get(RunStore),
      projects: get(ProjectStore),
      deadLetters: get(DeadLetters),
      archive: get(ArchiveRunsCall),
      topologies: new Set(shippedTopologies),
      inspectRemote: (input, options) => request(broker, InspectRemote, input, options),
    }),
  migrations: routerMigrations,
  entities: routerEntities,
};
