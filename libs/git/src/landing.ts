import type { CommitId, RunId, StepId, TreeId } from '@flotilla/contracts/ids';
import { parseBranchName, toBranchRef, type BranchName } from './branch-name.ts';
import { runTrailer, stepTrailer } from './commit-message.ts';
import { ensureCommit } from './ensure-commit.ts';
import { isAncestor } from './merge.ts';
import type { Mirror } from './mirror.ts';
import { readCommitId } from './object-id.ts';
import { judgePush, type PushRefusal } from './push-refusal.ts';
import { readTreeOf } from './read-tree.ts';
import { readRemoteHeads, resolveBranch, type ResolvedBranch } from './resolve-branch.ts';

/** Reads a branch's head from the remote itself and brings the commit here. */
export async function readHead(mirror: Mirror, branch: string): Promise<ResolvedBranch> {
  const head = await resolveBranch(mirror, branch);
  await ensureCommit(mirror, head.commit);
  return head;
}

export interface LandedQuery {
  /** The target's present head, which is here. */
  readonly head: CommitId;
  /** A commit that was the head before the step could land: the change's base. */
  readonly since: CommitId;
  /** The reviewed commit. */
  readonly change: CommitId;
  readonly runId: RunId;
  readonly stepId: StepId;
}

export type Landed =
  /** The merge commit that this step made. */
  | { readonly kind: 'merge'; readonly commit: CommitId }
  /** The reviewed commit itself is in the history: by fast-forward, or because somebody merged it. */
  | { readonly kind: 'contained'; readonly commit: CommitId };

/** Asks the history whether a step has landed: the push and our tables cannot share a transaction. */
export async function findLanded(mirror: Mirror, query: LandedQuery): Promise<Landed | undefined> {
  const { head, since, change, runId, stepId } = query;
  if (!(await hasCommit(mirror, change)) || !(await isAncestor(mirror, change, head))) return undefined;
  const trailer = (key: string): string => `%(trailers:key=${key},valueonly,unfold,separator=%x02)`;
  const answer = await mirror.run({
    args: [
      'log',
      '-z',
      '--merges',
      '--no-show-signature',
      `--format=%H%x01%P%x01${trailer(runTrailer)}%x01${trailer(stepTrailer)}`,
      '--end-of-options',
      head,
      `^${since}`,
    ],
    timeLimitMs: 120_000,
  });
  for (const record of answer.stdout.toString('utf8').split('\0')) {
    const [commit = '', parents = '', run, step] = record.trim().split('\u0001');
    if (run === runId && step === stepId && parents.split(' ')[1] === change)
      return { kind: 'merge', commit: readCommitId(commit) };
  }
  return { kind: 'contained', commit: change };
}

async function hasCommit(mirror: Mirror, commit: CommitId): Promise<boolean> {
  const answer = await mirror.run({ args: ['cat-file', '-e', `${commit}^{commit}`], accept: [0, 1, 128] });
  return answer.exitCode === 0;
}

export interface PushRequest {
  readonly commit: CommitId;
  readonly branch: string;
  /** What the branch must point to at the remote; null: it must not exist. */
  readonly expectedOld: CommitId | null;
}

export type Push =
  /** The remote's ref was read back: it is the commit, or something that was built on it since. */
  | { readonly kind: 'landed'; readonly commit: CommitId; readonly tree: TreeId; readonly head: CommitId }
  /** The branch is elsewhere by now; null: it is gone. */
  | { readonly kind: 'moved'; readonly head: CommitId | null }
  | ({ readonly kind: 'refused' } & PushRefusal);

/**
 * Moves a branch of the remote forward from the expected commit, by the remote's own compare-and-swap; history is never
 * forced away. Safe to repeat: a push that had worked is `landed` again. Throws remoteUnreachable when the outcome is
 * unknown; `findLanded` tells it later.
 */
export async function pushCommit(mirror: Mirror, request: PushRequest): Promise<Push> {
  const { commit, expectedOld } = request;
  const branch = parseBranchName(request.branch);
  if (expectedOld !== null && !(await isAncestor(mirror, expectedOld, commit))) {
    const advice = 'Merge the change onto the head of the branch first.';
    return {
      kind: 'refused',
      reason: 'not-a-fast-forward',
      text: `${commit} does not build on ${expectedOld}`,
      advice,
    };
  }
  const ref = toBranchRef(branch);
  const answer = await mirror.tryRemote({
    args: [
      'push',
      '--porcelain',
      '--no-verify',
      '--no-follow-tags',
      '--recurse-submodules=no',
      `--force-with-lease=${ref}:${expectedOld ?? ''}`,
      '--end-of-options',
      mirror.access.remote.url,
      `${commit}:${ref}`,
    ],
  });
  const verdict = judgePush(mirror.access.remote, answer, ref);
  if (verdict.kind === 'refused') return verdict;
  const head = (await readRemoteHeads(mirror)).branches.get(branch) ?? null;
  if (head !== null && (await reaches(mirror, head, commit))) {
    return { kind: 'landed', commit, tree: await readTreeOf(mirror, commit), head };
  }
  if (verdict.kind === 'rejected' && head === expectedOld) return { kind: 'refused', ...verdict.refusal };
  return { kind: 'moved', head };
}

async function reaches(mirror: Mirror, head: CommitId, commit: CommitId): Promise<boolean> {
  if (head === commit) return true;
  await ensureCommit(mirror, head);
  return isAncestor(mirror, commit, head);
}

/**
 * The name of the lease under which changes land: one per repository and branch, whatever the spelling of the remote.
 * Repositories whose names differ only in case share it, which costs nothing but a moment's wait.
 */
export function mergeLeaseKey(canonicalId: string, branch: BranchName): string {
  return `merge:${canonicalId.toLowerCase()}#${toBranchRef(branch)}`;
}
