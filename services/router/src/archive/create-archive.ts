import { join } from 'node:path';
import type { Settings } from '@flotilla/contracts/settings';
import type { Resources } from '@flotilla/host/service-definition';
import { ArchiveStore } from '../store/archive.store.ts';
import { createWorkAlone } from '../store/work-alone.ts';
import { ArchiveFiles } from './archive-files.ts';
import { ArchiveRunsCall } from './archive-runs.ts';
import { ArchiveSweeper } from './archive-sweeper.ts';
import { cleanBuckets } from './clean-buckets.ts';
import { RunArchiver } from './run-archiver.ts';

const SWEEP_EVERY_MS = 3_600_000;
const BETWEEN_RUNS_MS = 1_000;

/** The archive of a router: what is asked of it, and what it does by itself. */
export function createArchive(
  resources: Pick<Resources, 'store' | 'clock' | 'ids' | 'objects' | 'settings' | 'instance' | 'logger'>,
): { readonly call: ArchiveRunsCall; readonly sweeper: ArchiveSweeper } {
  const { store, clock, ids, objects, settings, instance, logger } = resources;
  const archives = new ArchiveStore(store, clock);
  const directory = directoryOf(settings);
  const alone = createWorkAlone(store, instance);
  const files = new ArchiveFiles({ directory, newId: ids.newToken });
  const archiver = new RunArchiver({ archives, files, ...objects, alone });
  const { archiveAfterDays: afterDays } = settings;
  const byItself = directory !== undefined && afterDays > 0;
  if (!byItself)
    logger.info({ event: 'nothing_is_archived', reason: directory === undefined ? 'no_directory' : 'off' });
  return {
    call: new ArchiveRunsCall({ archives, archiver, afterDays, clock }),
    sweeper: new ArchiveSweeper({
      archives,
      archiver,
      cleanBuckets: async () => {
        const removed = await cleanBuckets({ archives, ...objects, clock });
        if (removed > 0) logger.info({ event: 'buckets_cleaned', objects: removed });
      },
      afterDays: byItself ? afterDays : undefined,
      clock,
      everyMs: SWEEP_EVERY_MS,
      betweenMs: BETWEEN_RUNS_MS,
      alone,
      onArchived: (runId, file) => logger.info({ event: 'run_archived', run_id: runId, file }),
      onTrouble: (task, error) => logger.warn({ event: 'sweep_failed', task, reason: String(error) }),
    }),
  };
}

function directoryOf({ archiveDirectory, dataDirectory }: Settings): string | undefined {
  return archiveDirectory ?? (dataDirectory === undefined ? undefined : join(dataDirectory, 'archive'));
}
