import { join } from 'node:path';
import { createGit } from '@flotilla/git/run-git';
import { requireSetting } from '@flotilla/host/read-settings';
import type { Resources } from '@flotilla/host/service-definition';
import { connectDocker, type DockerEngine } from '@flotilla/sandbox/docker-engine';
import { sandboxUserFor } from '@flotilla/sandbox/sandbox-user';
import { createSetupStore, type SetupStore } from '@flotilla/sandbox/setup-store';
import { createSlotPool, type SlotPool } from '@flotilla/sandbox/slot-pool';
import { startReaper, removeDeliveriesOf } from './slot-reaper.ts';
import { Workplaces } from './workplaces.ts';

/** A service's slots and what is laid in them, on this host. */
export interface OpenWorkplaces {
  readonly engine: DockerEngine;
  readonly image: string;
  readonly pool: SlotPool;
  readonly setups: SetupStore;
  readonly workplaces: Workplaces;
  close(): Promise<void>;
}

type Needed = Pick<Resources, 'settings' | 'objects' | 'store' | 'ids' | 'logger'>;

const mebibyte = 1024 ** 2;

/** Opens them under the data directory. The Docker engine may be away: claims then wait for it. */
export async function openWorkplaces({ settings, objects, store, ids, logger }: Needed): Promise<OpenWorkplaces> {
  const data = requireSetting(settings, 'dataDirectory');
  const image = requireSetting(settings, 'sandboxImage');
  const { installation } = settings;
  const engine = connectDocker(settings.dockerHost);
  const directory = join(data, 'slots');
  const onFault = (error: unknown) => logger.warn({ event: 'slots_troubled', reason: String(error) });
  const newId = () => ids.newToken();
  const now = () => performance.now();
  const pool = await createSlotPool({
    engine,
    directory,
    installation,
    image,
    limit: settings.slots,
    ready: settings.slotsReady,
    limits: { memoryBytes: settings.slotMemoryMb * mebibyte, cpus: settings.slotCpus },
    user: sandboxUserFor({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }),
    newId,
    now,
    onFault,
  });
  const place = { engine, directory, installation };
  const reaper = startReaper({ ...place, store, onFault });
  const setups = createSetupStore({ directory: join(data, 'setups'), newId, now });
  const workplaces = new Workplaces({
    git: createGit(),
    mirrorDirectory: join(data, 'mirrors'),
    bundles: objects.changes,
    pool,
    setups,
    removeEarlier: (step) => removeDeliveriesOf(place, step),
  });
  return {
    engine,
    image,
    pool,
    setups,
    workplaces,
    async close() {
      await reaper.stop();
      await pool.close();
    },
  };
}
