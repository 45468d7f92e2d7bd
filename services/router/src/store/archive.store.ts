import { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Store } from '@flotilla/store/store';
import type { KeptEntry } from '../domain/archive-lines.ts';
import type { ArchiveFacts } from '../domain/judge-archive.ts';
import { z } from 'zod';

/** Where an archived run is. */
export interface RunArchive {
  /** Below the archive directory. */
  readonly file: string;
  readonly at: Date;
}

/** Names of objects in the buckets that are of one run alone. */
export interface RunObjects {
  readonly changes: readonly string[];
  readonly spills: readonly string[];
}

export interface WholeRun {
  /** The rows as JSON. */
  readonly row: string;
  readonly gates: readonly string[];
  /** The change that was handed in last, and its merge where it waited for one: the bundles that hold them. */
  readonly bundles: readonly string[];
}

export interface ArchiveDecision {
  readonly runId: RunId;
  readonly file: string;
  readonly objects: RunObjects;
  /** Sequence of the last entry that was written to the file. */
  readonly last: number;
  /** The entry that says how it ended, which stays. */
  readonly end: Pick<KeptEntry, 'sequence' | 'payload'> | undefined;
  /** Gives the file its place. */
  readonly publish: () => Promise<void>;
}

/** Read tolerantly: a run of an older version is archived as well as any. */
const KeptChange = z.object({ bundle: z.string() }).optional().catch(undefined);
const KeptChanges = z
  .object({ known: z.object({ change: KeptChange, candidate: KeptChange }) })
  .catch({ known: { change: undefined, candidate: undefined } });

/** Characters of texts that the row of an archived run keeps, for lists. */
const SHOWN = 200;

const retryUnderWay = `(select retry.id from router.run as retry where retry.retry_of = run.id and retry.state <> 'ended')`;

export class ArchiveStore {
  readonly #store: Store;
  readonly #clock: () => Date;

  constructor(store: Store, clock: () => Date) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Runs that ended before this moment and may be archived, without some, the ones that ended first before the others. */
  async findDue(before: Date, limit: number, without: readonly RunId[] = []): Promise<readonly RunId[]> {
    const rows = await this.#store.query<{ id: string }>(
      `select id from router.run as run
        where state = 'ended' and archived_at is null and ended_at < $1 and ${retryUnderWay} is null and id <> all($3::text[])
        order by ended_at, id limit $2`,
      [before, limit, without],
    );
    return rows.map(({ id }) => RunId.parse(id));
  }

  /** Throws RUN_UNKNOWN. */
  async readFacts(runId: RunId): Promise<ArchiveFacts & { readonly archive: RunArchive | undefined }> {
    const [row] = await this.#store.query<{
      ended_at: Date | string | null;
      archived_at: Date | string | null;
      archive: string | null;
      retry: string | null;
    }>(`select ended_at, archived_at, archive, ${retryUnderWay} as retry from router.run as run where id = $1`, [
      runId,
    ]);
    if (row === undefined) throw new FlotillaError(errors.runUnknown, { runId });
    return {
      runId,
      endedAt: row.ended_at === null ? undefined : new Date(row.ended_at),
      retry: row.retry === null ? undefined : RunId.parse(row.retry),
      archive: archiveOf(row),
    };
  }

  /** Of a run that has ended and is not archived. */
  async readWhole(runId: RunId): Promise<WholeRun> {
    const [run] = await this.#store.query<{ row: string; facts: unknown }>(
      'select row_to_json(run)::text as row, facts from router.run as run where id = $1',
      [runId],
    );
    if (run === undefined) throw new FlotillaError(errors.runUnknown, { runId });
    const gates = await this.#store.query<{ row: string }>(
      'select row_to_json(gate)::text as row from router.gate as gate where run_id = $1 order by id',
      [runId],
    );
    const { change, candidate } = KeptChanges.parse(run.facts).known;
    const bundles = [change, candidate].flatMap((kept) => kept?.bundle ?? []);
    return { row: run.row, gates: gates.map(({ row }) => row), bundles: [...new Set(bundles)] };
  }

  /** Entries in their order, spilled payloads not put back. */
  async readEntries(runId: RunId, after: number, limit: number): Promise<readonly KeptEntry[]> {
    const rows = await this.#store.query<Omit<KeptEntry, 'payload'> & { readonly payload: string | null }>(
      `select sequence, step, attempt, type, payload::text as payload, spill, traceparent, tracestate,
              to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
         from flow.log where run = $1 and sequence > $2 order by sequence limit $3`,
      [runId, after, limit],
    );
    return rows.map(({ payload, ...row }) => ({ ...row, payload: payload ?? undefined }));
  }

  /**
   * The step from which on a run is archived: the file takes its place, then the run's log and gates go. What stays is a small row, and of
   * the log the end, so that whoever still has a message of the run hears that it is over. Of two at once the second changes nothing.
   * Throws ARCHIVE_LOG_CHANGED.
   */
  archive({ runId, file, objects, last, end, publish }: ArchiveDecision): Promise<RunArchive> {
    return this.#store.transaction(async ({ query }) => {
      const [row] = await query<{ archived_at: Date | string | null; archive: string | null }>(
        'select archived_at, archive from router.run where id = $1 for update',
        [runId],
      );
      if (row === undefined) throw new FlotillaError(errors.runUnknown, { runId });
      const before = archiveOf(row);
      if (before !== undefined) return before;
      const [cursor] = await query<{ last: number }>('select last from flow.cursor where run = $1 for update', [runId]);
      if ((cursor?.last ?? 0) !== last) {
        const reason = `it has ${cursor?.last ?? 0} entries, and the file ${last}`;
        throw new FlotillaError(errors.archiveLogChanged, { runId, reason });
      }
      await publish();
      const at = this.#clock();
      await query('delete from flow.log where run = $1 and sequence <> $2', [runId, end?.sequence ?? 0]);
      await query('update flow.log set payload = $2::json, spill = null where run = $1 and spill is not null', [
        runId,
        end?.payload ?? 'null',
      ]);
      await query('delete from router.gate where run_id = $1', [runId]);
      await query(
        `update router.run
            set facts = null, slip = null, goal = left(goal, $4), message = left(message, $4), advice = left(advice, $4),
                archive = $2, archived_at = $3, leftover = $5::json
          where id = $1`,
        [runId, file, at, SHOWN, JSON.stringify(objects)],
      );
      return { file, at };
    });
  }

  /** Archived runs whose objects may still be in the buckets, without some. */
  async findLeftovers(limit: number, without: readonly RunId[] = []): Promise<readonly RunId[]> {
    const rows = await this.#store.query<{ id: string }>(
      `select id from router.run where leftover is not null and id <> all($2::text[])
        order by archived_at, id limit $1`,
      [limit, without],
    );
    return rows.map(({ id }) => RunId.parse(id));
  }

  /** Undefined once they are gone. */
  async readLeftover(runId: RunId): Promise<RunObjects | undefined> {
    const [row] = await this.#store.query<{ leftover: RunObjects | null }>(
      'select leftover from router.run where id = $1',
      [runId],
    );
    return row?.leftover ?? undefined;
  }

  async forgetLeftover(runId: RunId): Promise<void> {
    await this.#store.query('update router.run set leftover = null where id = $1', [runId]);
  }

  /** Which of these runs are archived. */
  async findArchived(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#store.query<{ id: string }>(
      'select id from router.run where id = any($1::text[]) and archived_at is not null',
      [runIds],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Names of bundles of base commits that runs which are not archived may need: of any commit that they know of. */
  async findBases(): Promise<ReadonlySet<string>> {
    const bases = new Set<string>();
    let after = '';
    for (;;) {
      const rows = await this.#store.query<{ id: string; facts: string }>(
        `select id, facts::text as facts from router.run
          where archived_at is null and id > $1 order by id limit ${basesAtOnce}`,
        [after],
      );
      for (const { facts } of rows) for (const [commit] of facts.matchAll(commitIds)) bases.add(`base/${commit}`);
      const last = rows.at(-1);
      if (last === undefined || rows.length < basesAtOnce) return bases;
      after = last.id;
    }
  }
}

const basesAtOnce = 1000;
const commitIds = /\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b/g;

function archiveOf(row: { readonly archived_at: Date | string | null; readonly archive: string | null }) {
  return row.archived_at === null ? undefined : { file: row.archive ?? '', at: new Date(row.archived_at) };
}
