import { join } from 'node:path';
import type { Settings } from '@flotilla/contracts/settings';
import { createGit } from '@flotilla/git/run-git';
import { requireSetting } from '@flotilla/host/read-settings';
import type { Resources, ServiceDefinition } from '@flotilla/host/service-definition';
import type { DynamicModule } from '@nestjs/common';
import { CredentialDirectory } from './credentials/credential-directory.ts';
import type { RemoteMirrors } from './git/open-remote-mirror.ts';
import { RemoteInspector } from './git/remote-inspector.ts';
import { RemoteRepositories } from './git/remote-repositories.ts';
import { RemoteTargets } from './git/remote-target.ts';
import { Salvager } from './git/salvager.ts';
import { LandChangeHandler } from './land-change.handler.ts';
import { RedisMergeLease } from './lease/redis-merge-lease.ts';
import { createMergerCalls } from './merger.calls.ts';
import { mergerStages } from './merger.stages.ts';
import { MirrorKeeper } from './mirror-keeper.ts';
import { OpenRepositoryHandler } from './open-repository.handler.ts';
import { readRunEnd } from './read-run-end.ts';

class MergerModule {}

/** How often mirrors that are due are looked for. */
const upkeepEveryMs = 15 * 60_000;

function createMergerModule({ settings, objects, clock, store, logger }: Resources): DynamicModule {
  const mirrors = describeMirrors(settings);
  return {
    module: MergerModule,
    providers: [
      {
        provide: RedisMergeLease,
        useFactory: () => new RedisMergeLease({ url: requireSetting(settings, 'redisUrl') }),
      },
      { provide: RemoteInspector, useFactory: () => new RemoteInspector(mirrors) },
      {
        provide: Salvager,
        useFactory: () =>
          new Salvager({
            git: mirrors.git,
            mirrorDirectory: mirrors.mirrorDirectory,
            bundles: objects.changes,
            readLog: (runId, options) => store.readLog(runId, options),
          }),
      },
      {
        provide: MirrorKeeper,
        useFactory: () =>
          new MirrorKeeper({
            ...mirrors,
            clock,
            everyMs: upkeepEveryMs,
            endOf: (runId) => readRunEnd(store, runId),
            onMaintained: (mirror, unpinned) =>
              logger.info({ event: 'mirror_maintained', mirror, runs_unpinned: unpinned.length }),
            onTrouble: (mirror, error) => logger.warn({ event: 'mirror_upkeep_failed', mirror, reason: String(error) }),
          }),
      },
      {
        provide: OpenRepositoryHandler,
        inject: [MirrorKeeper],
        useFactory: (keeper: MirrorKeeper) =>
          keeper.before(new OpenRepositoryHandler(new RemoteRepositories(mirrors), objects.changes, clock)),
      },
      {
        provide: LandChangeHandler,
        inject: [RedisMergeLease, MirrorKeeper],
        useFactory: (lease: RedisMergeLease, keeper: MirrorKeeper) =>
          keeper.before(new LandChangeHandler(new RemoteTargets({ mirrors, bundles: objects.changes, clock }), lease)),
      },
    ],
  };
}

function describeMirrors(settings: Settings): RemoteMirrors {
  const data = requireSetting(settings, 'dataDirectory');
  const credentialDirectory = join(data, 'credentials');
  return {
    git: createGit(),
    mirrorDirectory: join(data, 'mirrors'),
    credentialDirectory,
    credentials: new CredentialDirectory(credentialDirectory),
    certificateFile: settings.gitCertificatesFile,
    refusedUnder: ['mirrors', 'slots', 'setups', 'credentials'].map((name) => join(data, name)),
  };
}

export const mergerService: ServiceDefinition = {
  name: 'merger',
  stages: mergerStages,
  module: createMergerModule,
  calls: (get) => createMergerCalls(get(RemoteInspector), get(Salvager)),
  checks: (get) => ({ redis: () => get(RedisMergeLease).answers() }),
};
