import type { ArchivedRun, ArchiveRuns } from '@flotilla/contracts/calls/archive-runs';
import type { RequestOf, ResponseOf } from '@flotilla/contracts/define-call';
import type { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { archiveBefore, whyKept } from '../domain/judge-archive.ts';
import type { ArchiveStore, RunArchive } from '../store/archive.store.ts';
import type { RunArchiver } from './run-archiver.ts';

export interface ArchiveRunsPorts {
  readonly archives: ArchiveStore;
  readonly archiver: RunArchiver;
  /** Of runs that are not named and no age is given for; 0: never without being told. */
  readonly afterDays: number;
  readonly clock: () => Date;
}

/** An answer is given by then, with the runs that were looked at so far. */
const answerWithinMs = 60_000;

/** Archives the runs of a request one after another, and says of each what became of it. */
export class ArchiveRunsCall {
  readonly #ports: ArchiveRunsPorts;

  constructor(ports: ArchiveRunsPorts) {
    this.#ports = ports;
  }

  async answer(request: RequestOf<typeof ArchiveRuns>): Promise<ResponseOf<typeof ArchiveRuns>> {
    const { archives, clock, afterDays } = this.#ports;
    const { runIds, olderThanDays, dryRun, limit } = request;
    const named = [...new Set(runIds)];
    const days = olderThanDays ?? (afterDays > 0 ? afterDays : undefined);
    if (named.length === 0 && days === undefined) throw new FlotillaError(errors.archiveAgeMissing);
    const wanted =
      days === undefined || named.length > 0 ? named : await archives.findDue(archiveBefore(clock(), days), limit + 1);
    const until = clock().getTime() + answerWithinMs;
    const runs: ArchivedRun[] = [];
    for (const runId of wanted) {
      if (runs.length === limit || clock().getTime() > until) return { runs, more: true };
      runs.push(await this.#archive(runId, dryRun));
    }
    return { runs, more: false };
  }

  async #archive(runId: RunId, dryRun: boolean): Promise<ArchivedRun> {
    try {
      if (!dryRun) return describe(runId, await this.#ports.archiver.archive(runId));
      const facts = await this.#ports.archives.readFacts(runId);
      if (facts.archive !== undefined) return describe(runId, facts.archive);
      const refusal = whyKept(facts);
      if (refusal !== undefined) throw refusal;
      return { runId, state: 'due' };
    } catch (error) {
      // Of a server that is away, and of what nobody foresaw, the whole request is told.
      if (!(error instanceof FlotillaError) || !ofOneRun.has(error.code)) throw error;
      return { runId, state: 'kept', failure: { code: error.code, message: error.message, advice: error.advice } };
    }
  }
}

const ofOneRun: ReadonlySet<string> = new Set([
  'RUN_UNKNOWN',
  'RUN_NOT_ENDED',
  'ARCHIVE_RETRY_UNDER_WAY',
  'ARCHIVE_BUSY',
  'ARCHIVE_LOG_CHANGED',
]);

function describe(runId: RunId, { file, at }: RunArchive): ArchivedRun {
  return { runId, state: 'archived', archive: { file, at: at.toISOString() } };
}
