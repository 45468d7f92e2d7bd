import type { CommitId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { parseBranchName, type BranchName } from './branch-name.ts';
import type { Mirror } from './mirror.ts';
import { readCommitId } from './object-id.ts';
import { toVisibleText } from './visible-text.ts';

export interface ResolvedBranch {
  readonly branch: BranchName;
  readonly commit: CommitId;
}

/** What a remote has, as it says itself. */
export interface RemoteHeads {
  /** The branch that HEAD names, when the remote says so and it has a commit. */
  readonly defaultBranch: string | undefined;
  readonly branches: ReadonlyMap<string, CommitId>;
}

/**
 * Asks the remote itself for a branch, by default its own default branch. Throws remoteUnreachable,
 * remoteCredentialRefused, remoteNotFound, remoteEmpty, branchUnknown and their kin.
 */
export async function resolveBranch(
  mirror: Pick<Mirror, 'runRemote' | 'access' | 'remoteName'>,
  branch?: string,
): Promise<ResolvedBranch> {
  const wanted = branch === undefined ? undefined : parseBranchName(branch);
  const heads = await readRemoteHeads(mirror);
  if (heads.branches.size === 0) throw new FlotillaError(errors.remoteEmpty, { remote: mirror.remoteName });
  const name = wanted ?? heads.defaultBranch;
  const commit = name === undefined ? undefined : heads.branches.get(name);
  if (name === undefined || commit === undefined) {
    throw new FlotillaError(errors.branchUnknown, {
      remote: mirror.remoteName,
      branch: name ?? 'that its HEAD names',
      branches: listSome(nearestFirst(name ?? '', [...heads.branches.keys()])),
    });
  }
  return { branch: parseBranchName(name), commit };
}

/** Reads the remote's branches and default branch in one call. */
export async function readRemoteHeads(mirror: Pick<Mirror, 'runRemote' | 'access'>): Promise<RemoteHeads> {
  const answer = await mirror.runRemote({
    args: ['ls-remote', '--symref', '--end-of-options', mirror.access.remote.url, 'HEAD', 'refs/heads/*'],
    timeLimitMs: 90_000,
  });
  return parseRemoteHeads(answer.stdout.toString('utf8'));
}

function parseRemoteHeads(listing: string): RemoteHeads {
  const branches = new Map<string, CommitId>();
  let defaultBranch: string | undefined;
  for (const line of listing.split('\n')) {
    const symbolic = /^ref: refs\/heads\/(.+)\tHEAD$/.exec(line);
    if (symbolic !== null) defaultBranch = symbolic[1];
    const head = /^([0-9a-f]{40})\trefs\/heads\/(.+)$/.exec(line);
    if (head?.[1] !== undefined && head[2] !== undefined) branches.set(head[2], readCommitId(head[1]));
  }
  return { defaultBranch, branches };
}

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => toVisibleText(Buffer.from(name)));
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ');
}

function nearestFirst(wanted: string, names: readonly string[]): readonly string[] {
  return names
    .map((name) => ({ name, distance: countEdits(wanted, name) }))
    .toSorted((left, right) => left.distance - right.distance)
    .map(({ name }) => name);
}

/** Levenshtein's distance, of the first hundred signs. */
function countEdits(from: string, to: string): number {
  const [source, target] = [from.slice(0, 100), to.slice(0, 100)];
  let row = Array.from({ length: target.length + 1 }, (_, index) => index);
  for (const [index, sign] of [...source].entries()) {
    const next = [index + 1];
    for (let at = 1; at <= target.length; at += 1) {
      const [above = 0, left = 0, corner = 0] = [row[at], next[at - 1], row[at - 1]];
      next.push(Math.min(above + 1, left + 1, corner + (sign === target[at - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[target.length] ?? 0;
}
