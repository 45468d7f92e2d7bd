import type { CommitId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { addBundleLocked, readBundleHeader } from './bundle.ts';
import { toleratedBlemishes } from './fsck-tolerance.ts';
import type { LockedMirror, Mirror, MirrorReader } from './mirror.ts';
import { judgeRemoteFailure } from './remote-failure.ts';

/** Loads the stored bundle that carries the commit; undefined when none is stored. */
export type LoadBundle = () => Promise<Uint8Array | undefined>;

export interface EnsureOptions {
  readonly loadBundle?: LoadBundle;
  /** Which source is asked first. Default `remote`; `bundle` for a commit that a run made itself. */
  readonly first?: 'remote' | 'bundle';
}

/**
 * Makes the commit and all that it builds on present in the mirror: what is there, else the remote (by id, then all its
 * branches), else the stored bundle, whose own prerequisites are asked of the remote. A mirror that a crash of the host left
 * corrupt is thrown away and filled anew. Throws commitUnavailable, or the remote's error when there is no bundle to fall
 * back on. Safe to repeat.
 */
export async function ensureCommit(mirror: Mirror, commit: CommitId, options: EnsureOptions = {}): Promise<void> {
  if (await hasWholeCommit(mirror, commit)) return;
  await mirror.withLock(async (locked) => {
    if (await hasWholeCommit(locked, commit)) return;
    try {
      await takeCommit(locked, commit, options);
    } catch (error) {
      if (!isCorruption(error)) throw error;
      await locked.remake();
      await takeCommit(locked, commit, options);
    }
  });
}

function isCorruption(error: unknown): boolean {
  if (!(error instanceof FlotillaError)) return false;
  const signs =
    /object file .* is empty|loose object .* is corrupt|bad object|invalid sha1 pointer|inflate|does not match index|bad pack header|packfile .* (cannot be accessed|is truncated)|index file .* is (corrupt|too small)|does not point to a valid object|unable to read (tree|sha1|[0-9a-f]{40})|missing (blob|tree|commit)/i;
  return signs.test(String(error.details['reason']));
}

async function takeCommit(mirror: LockedMirror, commit: CommitId, options: EnsureOptions): Promise<void> {
  const sources = [() => fetchCommit(mirror, commit), () => takeBundle(mirror, commit, options.loadBundle)];
  if (options.first === 'bundle') sources.reverse();
  let remoteFailure: FlotillaError | undefined;
  for (const source of sources) {
    const outcome = await source();
    if (outcome === 'taken') return;
    if (outcome !== 'absent') remoteFailure = outcome;
  }
  throw remoteFailure ?? new FlotillaError(errors.commitUnavailable, { remote: mirror.remoteName, commit });
}

/** Whether the commit is present with everything that it reaches; what our refs reach is whole by construction. */
export async function hasWholeCommit(mirror: MirrorReader, commit: CommitId): Promise<boolean> {
  const answer = await mirror.run({
    args: ['rev-list', '--objects', '--quiet', '--not', '--all', '--not', commit],
    accept: [0, 128],
    timeLimitMs: 300_000,
  });
  return answer.exitCode === 0;
}

type SourceOutcome = 'taken' | 'absent' | FlotillaError;

const fetchOptions = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
  '--no-show-forced-updates',
  '--refmap=',
] as const;

async function fetchCommit(mirror: LockedMirror, commit: CommitId): Promise<SourceOutcome> {
  const byId = await fetch(mirror, `+${commit}:refs/mirror/fetched/${commit}`);
  if (byId.exitCode === 0)
    return (await hasWholeCommit(mirror, commit)) ? 'taken' : explainAbsence(mirror, byId.complaint);
  if (/not our ref/.test(byId.complaint)) return 'absent';
  if (!/unadvertised object|no such remote ref|couldn't find remote ref/i.test(byId.complaint)) {
    return judgeRemoteFailure(mirror.access.remote, byId.complaint);
  }
  const branches = await fetch(mirror, '+refs/heads/*:refs/mirror/heads/*', '--prune');
  if (branches.exitCode !== 0) return judgeRemoteFailure(mirror.access.remote, branches.complaint);
  return (await hasWholeCommit(mirror, commit)) ? 'taken' : 'absent';
}

/** A fetch may succeed and bring nothing: a shallow clone's history has no end that others could build on. */
function explainAbsence({ remoteName }: LockedMirror, complaint: string): SourceOutcome {
  if (!/shallow/.test(complaint)) return 'absent';
  const reason = 'it is a shallow clone; run `git fetch --unshallow` in it';
  return new FlotillaError(errors.remoteNotCloneable, { remote: remoteName, reason });
}

function fetch(mirror: LockedMirror, refspec: string, ...options: readonly string[]) {
  return mirror.tryRemote({
    args: [...fetchOptions, ...options, '--end-of-options', mirror.access.remote.url, refspec],
    settings: [
      ['transfer.fsckObjects', 'true'],
      ...toleratedBlemishes.map((blemish) => [`fetch.fsck.${blemish}`, 'ignore'] as const),
    ],
  });
}

async function takeBundle(
  mirror: LockedMirror,
  commit: CommitId,
  loadBundle: LoadBundle | undefined,
): Promise<SourceOutcome> {
  const bytes = await loadBundle?.();
  if (bytes === undefined) return 'absent';
  for (const prerequisite of readBundleHeader(bytes).prerequisites) {
    if (await hasWholeCommit(mirror, prerequisite)) continue;
    const outcome = await fetchCommit(mirror, prerequisite);
    if (outcome === 'absent') throw new FlotillaError(errors.bundlePrerequisiteMissing, { commits: prerequisite });
    if (outcome !== 'taken') throw outcome;
  }
  const taken = await addBundleLocked(mirror, bytes);
  return taken.includes(commit) || (await hasWholeCommit(mirror, commit)) ? 'taken' : 'absent';
}
