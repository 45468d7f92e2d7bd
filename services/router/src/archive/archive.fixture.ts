import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { RunId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { connectBroker } from '@flotilla/stream/connect-broker';
import { openBucket } from '@flotilla/stream/open-bucket';
import { provisionStreams } from '@flotilla/stream/provision-streams';
import { startNats } from '@flotilla/testing/servers/start-nats';
import { ann, createRouterFixture } from '../store/router.fixture.ts';
import { ArchiveStore } from '../store/archive.store.ts';
import { createWorkAlone } from '../store/work-alone.ts';
import { ArchiveFiles } from './archive-files.ts';
import { RunArchiver, type RunArchiverPorts } from './run-archiver.ts';

/** An entry that holds anything; the log asks for no type of the catalogue. */
export function noted(payload: unknown): NewLogEntry {
  return { type: 'noted', payload } as unknown as NewLogEntry; // what a later version may write
}

/** A router's stores with real buckets, and an archive in a directory of its own. */
export async function createArchiveFixture() {
  const nats = await startNats();
  const broker = await connectBroker({ url: nats.url, name: 'test' });
  await provisionStreams(broker);
  const changes = await openBucket(broker, 'changes');
  const spills = await openBucket(broker, 'spills');
  const router = await createRouterFixture({ spills });
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-archive-'));
  let ids = 0;
  const newId = () => String((ids += 1));
  const archives = new ArchiveStore(router.store, router.clock);
  const files = new ArchiveFiles({ directory, newId });
  const ports: RunArchiverPorts = {
    archives,
    files,
    changes,
    spills,
    alone: (key, work) => createWorkAlone(router.store, newId())(key, work),
  };
  const bundleOf = (runId: RunId, turn: number | string) => `${runId}/build/1/${turn}`;
  return {
    ...router,
    ports,
    directory,
    archives,
    changes,
    spills,
    archiver: new RunArchiver(ports),
    bundleOf,
    /** A run that ended, with a gate, checkpoints and payloads of every kind and size. */
    makeEnded: async (payloads: readonly unknown[] = [], task: Parameters<typeof router.submit>[0] = {}) => {
      const runId = await router.submit(task);
      const gate = await router.until(runId, 'gate');
      for (const turn of [1, 2]) await changes.put(bundleOf(runId, turn), Buffer.from(`bundle ${turn} of ${runId}`));
      await router.store.transaction(async (transaction) => {
        await transaction.appendLog(runId, [
          ...[1, 2].map((turn) => noted({ turn, bundle: bundleOf(runId, turn) })),
          noted({ bundle: `base/${'a'.repeat(40)}` }),
          ...payloads.map(noted),
        ]);
        // The change that was handed in last lies in the second bundle.
        await transaction.query(
          `update router.run set facts = replace(facts::text, '"bundle":"bundle/', '"bundle":"${runId}/build/1/2","was":"')::json where id = $1`,
          [runId],
        );
      });
      await router.runs.decideGate(
        { gateId: gate!.gateId, decision: 'decline', commit: gate!.change.commit, comment: 'No.' },
        ann,
      );
      return runId;
    },
    /** The records of a file, by kind. */
    read: async (file: string) => {
      const text = gunzipSync(await readFile(join(directory, file))).toString();
      const records = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown> & { kind: string });
      return { records, of: (kind: string) => records.filter((record) => record.kind === kind) };
    },
    close: async () => {
      await router.close();
      await broker.close();
      await nats.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type ArchiveFixture = Awaited<ReturnType<typeof createArchiveFixture>>;
