import type { RunEnded } from '@flotilla/contracts/events/run-events';
import type { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import {
  bundleLines,
  entryLine,
  findBundles,
  firstLine,
  lastLine,
  rowLine,
  type KeptEntry,
} from '../domain/archive-lines.ts';
import { whyKept } from '../domain/judge-archive.ts';
import type { ArchiveStore, RunArchive, RunObjects } from '../store/archive.store.ts';
import type { ArchiveFiles } from './archive-files.ts';

/** What the archiver needs of a bucket. */
export interface ArchivedBucket {
  /** Throws OBJECT_MISSING. */
  get(name: string): Promise<Uint8Array>;
  delete(name: string): Promise<void>;
}

export interface RunArchiverPorts {
  readonly archives: ArchiveStore;
  readonly files: Pick<ArchiveFiles, 'require' | 'write' | 'publish' | 'discard'>;
  readonly changes: ArchivedBucket;
  readonly spills: ArchivedBucket;
  /** Runs the work while nobody else does it; undefined where somebody does. */
  readonly alone: <T>(key: string, work: () => Promise<T>) => Promise<T | undefined>;
}

/** What was found while the lines were written. */
interface Found {
  readonly changes: Set<string>;
  readonly spills: Set<string>;
  last: number;
  end: KeptEntry | undefined;
}

const endType: (typeof RunEnded)['type'] = 'run.ended';
const entriesAtOnce = 500;

/**
 * Moves an ended run out of the fleet: a file that holds all of it is written and read back, then its log and gates go, then its
 * objects. Whoever dies in between leaves the run whole or archived, and what is left to do is done by the next.
 */
export class RunArchiver {
  readonly #ports: RunArchiverPorts;

  constructor(ports: RunArchiverPorts) {
    this.#ports = ports;
  }

  /** Safe to repeat. Throws RUN_UNKNOWN, RUN_NOT_ENDED, ARCHIVE_RETRY_UNDER_WAY, ARCHIVE_BUSY, ARCHIVE_NOT_WRITTEN, ARCHIVE_LOG_CHANGED. */
  async archive(runId: RunId): Promise<RunArchive> {
    const { archives, files, alone } = this.#ports;
    files.require();
    const archive = await alone(`archive/${runId}`, async () => {
      const facts = await archives.readFacts(runId);
      if (facts.archive !== undefined) return facts.archive;
      const refusal = whyKept(facts);
      if (refusal !== undefined) throw refusal;
      return this.#write(runId, facts.endedAt ?? new Date(0));
    });
    if (archive === undefined) throw new FlotillaError(errors.archiveBusy, { runId });
    await this.removeObjects(runId);
    return archive;
  }

  /** Takes the objects of an archived run out of the buckets. Safe to repeat. */
  async removeObjects(runId: RunId): Promise<void> {
    const { archives, changes, spills } = this.#ports;
    const left = await archives.readLeftover(runId);
    if (left === undefined) return;
    for (const name of left.changes) await changes.delete(name);
    for (const name of left.spills) await spills.delete(name);
    await archives.forgetLeftover(runId);
  }

  async #write(runId: RunId, endedAt: Date): Promise<RunArchive> {
    const { archives, files } = this.#ports;
    const found: Found = { changes: new Set(), spills: new Set(), last: 0, end: undefined };
    const written = await files.write(runId, endedAt, this.#lines(runId, found));
    const objects: RunObjects = { changes: [...found.changes], spills: [...found.spills] };
    try {
      return await archives.archive({
        runId,
        file: written.file,
        objects,
        last: found.last,
        end: found.end,
        publish: () => files.publish(written),
      });
    } finally {
      await files.discard(written);
    }
  }

  async *#lines(runId: RunId, found: Found): AsyncGenerator<string> {
    const { row, gates, bundles } = await this.#ports.archives.readWhole(runId);
    yield firstLine(runId);
    yield rowLine('run', row);
    for (const gate of gates) yield rowLine('gate', gate);
    for await (const entry of this.#entries(runId, found)) yield entryLine(runId, entry);
    let kept = 0;
    for (const name of bundles) {
      const bytes = await find(this.#ports.changes, name);
      if (bytes === undefined) continue;
      kept += 1;
      yield* bundleLines(name, bytes);
    }
    yield lastLine({ entries: found.last, gates: gates.length, bundles: kept });
  }

  async *#entries(runId: RunId, found: Found): AsyncGenerator<KeptEntry> {
    for (;;) {
      const page = await this.#ports.archives.readEntries(runId, found.last, entriesAtOnce);
      for (const row of page) {
        if (row.sequence !== found.last + 1) {
          const reason = `after entry ${found.last} comes ${row.sequence}`;
          throw new FlotillaError(errors.archiveLogChanged, { runId, reason });
        }
        const entry = row.spill === null ? row : { ...row, payload: await this.#readSpill(row.spill) };
        found.last = entry.sequence;
        if (entry.spill !== null) found.spills.add(entry.spill);
        for (const name of findBundles(runId, entry.payload ?? '')) found.changes.add(name);
        if (entry.type === endType) found.end = entry;
        yield entry;
      }
      if (page.length < entriesAtOnce) return;
    }
  }

  async #readSpill(name: string): Promise<string | undefined> {
    const bytes = await find(this.#ports.spills, name);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  }
}

/** Undefined where a broker that was lost has taken it along: that never keeps a run from being archived. */
async function find(bucket: ArchivedBucket, name: string): Promise<Uint8Array | undefined> {
  try {
    return await bucket.get(name);
  } catch (error) {
    if (error instanceof FlotillaError && error.is(errors.objectMissing)) return undefined;
    throw error;
  }
}
