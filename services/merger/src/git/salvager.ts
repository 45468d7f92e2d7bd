import type { SalvageRun } from '@flotilla/contracts/calls/salvage-run';
import type { RequestOf, ResponseOf } from '@flotilla/contracts/define-call';
import type { CommitId, RunId, StepId } from '@flotilla/contracts/ids';
import { StepRequestedEvent } from '@flotilla/contracts/events/run-events';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { readBundleHeader } from '@flotilla/git/bundle';
import { diffCommits, type CommitDiff } from '@flotilla/git/diff';
import { hasWholeCommit } from '@flotilla/git/ensure-commit';
import type { Mirror } from '@flotilla/git/mirror';
import type { RunGit } from '@flotilla/git/run-git';
import { ensureStoredCommits, openStoredMirror, type BundleSource } from '@flotilla/git/stored-commits';
import { writePatch } from '@flotilla/git/write-patch';
import { baseBundleName } from '../domain/bundle-names.ts';
import { chooseSalvage, salvageTypes, type KeptWork } from '../domain/choose-salvage.ts';
import { readParents } from './read-parents.ts';

export interface SalvagerOptions {
  readonly git: RunGit;
  readonly mirrorDirectory: string;
  /** The `changes` bucket. */
  readonly bundles: BundleSource;
  readonly readLog: (
    runId: RunId,
    options: {
      readonly types?: readonly string[];
      readonly stepId?: StepId;
      readonly after: number;
      readonly limit: number;
    },
  ) => Promise<readonly LogEntry[]>;
}

const diffLimitBytes = 512 * 1024;
/** With the diff and in base64 below what the broker takes as one message. */
const partBytes = 2 * 1024 * 1024;
const pageEntries = 500;
/** The first part says what the patch is. */
const untold: CommitDiff = { text: '', files: [], truncated: false };

/** Tells what an agent of a run did, from the log and the stored bundles alone: no remote and no other host is asked. */
export class Salvager {
  readonly #options: SalvagerOptions;

  constructor(options: SalvagerOptions) {
    this.#options = options;
  }

  /** Throws RUN_UNKNOWN for a run without a log, RUN_ARCHIVED, STEP_UNKNOWN, COMMIT_UNAVAILABLE where the bundle is gone. */
  async salvage(request: RequestOf<typeof SalvageRun>): Promise<ResponseOf<typeof SalvageRun>> {
    const { runId, offset } = request;
    const found = chooseSalvage(await this.#readEntries(runId), request);
    if (found === undefined) {
      await this.#requireRun(runId);
      if (request.stepId !== undefined) await this.#requireStep(runId, request.stepId);
      return { runId, state: 'none', files: [], diff: '', truncated: false, patch: '' };
    }
    const { git, mirrorDirectory } = this.#options;
    const { repository, work } = found;
    const mirror = await openStoredMirror({ git, mirrorDirectory, repository });
    await this.#ensure(mirror, work);
    const { stepId, attempt, turn, at, commit } = work;
    const [base = commit] = await readParents(mirror, commit);
    const shown = offset === 0 ? await diffCommits(mirror, base, commit, { limitBytes: diffLimitBytes }) : untold;
    const patch = await writePatch(mirror, base, commit);
    const end = offset + partBytes;
    return {
      ...{ runId, state: 'found', stepId, attempt, at, base, commit },
      ...(turn === undefined ? {} : { turn }),
      files: shown.files.map(({ path, status, additions, deletions }) => ({ path, status, additions, deletions })),
      diff: shown.text,
      truncated: shown.truncated,
      patch: patch.subarray(offset, end).toString('base64'),
      ...(end < patch.length ? { next: end } : {}),
    };
  }

  /** A bundle of a change builds on its base, which has a bundle of its own. */
  async #ensure(mirror: Mirror, { commit, bundle }: KeptWork): Promise<void> {
    const { bundles } = this.#options;
    if (await hasWholeCommit(mirror, commit)) return;
    const bases = (await bundles.has(bundle)) ? readBundleHeader(await bundles.get(bundle)).prerequisites : [];
    const base = (id: CommitId) => ({ commit: id, bundle: baseBundleName(id) });
    await ensureStoredCommits(mirror, bundles, [...bases.map(base), { commit, bundle }]);
  }

  async #readEntries(runId: RunId): Promise<readonly LogEntry[]> {
    const entries: LogEntry[] = [];
    for (;;) {
      const after = entries.at(-1)?.sequence ?? 0;
      const page = await this.#options.readLog(runId, { types: salvageTypes, after, limit: pageEntries });
      entries.push(...page);
      if (page.length < pageEntries) return entries;
    }
  }

  async #requireStep(runId: RunId, stepId: StepId): Promise<void> {
    const [first] = await this.#options.readLog(runId, { stepId, after: 0, limit: 1 });
    if (first !== undefined) return;
    const requests = await this.#options.readLog(runId, {
      types: [StepRequestedEvent.type],
      after: 0,
      limit: pageEntries,
    });
    const steps = [...new Set(requests.flatMap((entry) => entry.stepId ?? []))].join(', ') || 'none yet';
    throw new FlotillaError(errors.stepUnknown, { runId, stepId, steps });
  }

  async #requireRun(runId: RunId): Promise<void> {
    const [first] = await this.#options.readLog(runId, { after: 0, limit: 1 });
    if (first === undefined) throw new FlotillaError(errors.runUnknown, { runId });
    // Of an archived run the log has its end alone.
    if (first.sequence > 1) throw new FlotillaError(errors.runArchived, { runId });
  }
}
