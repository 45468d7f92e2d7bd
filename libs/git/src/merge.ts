import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import { composeCommitMessage, type CommitOccasion } from './commit-message.ts';
import { commitTree } from './commit-tree.ts';
import type { MirrorReader, Mirror } from './mirror.ts';
import { readTreeId } from './object-id.ts';
import { pinCommit } from './pin.ts';
import { readTreeOf, splitAtNul } from './read-tree.ts';
import { toVisibleText } from './visible-text.ts';

export interface MergeRequest {
  /** The target's present head. */
  readonly head: CommitId;
  /** The reviewed commit; never rewritten. */
  readonly change: CommitId;
  readonly message: string;
  readonly occasion: CommitOccasion;
  /** Dates of the merge commit: the same request gives the same id. */
  readonly at: Date;
}

export type Merge =
  /** The head already reaches the change: nothing to do. */
  | { readonly kind: 'contained' }
  | { readonly kind: 'fast-forward'; readonly commit: CommitId; readonly tree: TreeId }
  /** First parent is the head, second the change. Pinned for the run. */
  | { readonly kind: 'merged'; readonly commit: CommitId; readonly tree: TreeId }
  | { readonly kind: 'conflict'; readonly paths: readonly string[]; readonly messages: readonly string[] };

/**
 * Computes what landing the change on the head gives, without a work tree, whatever attributes either side holds: no merge
 * driver settles a conflict silently. A head that shares no history with the change conflicts with all of it. Touches no branch.
 */
export async function mergeOnto(mirror: Mirror, request: MergeRequest): Promise<Merge> {
  const { head, change, occasion } = request;
  if (await isAncestor(mirror, change, head)) return { kind: 'contained' };
  if (await isAncestor(mirror, head, change)) {
    return { kind: 'fast-forward', commit: change, tree: await readTreeOf(mirror, change) };
  }
  if (!(await haveCommonHistory(mirror, head, change))) {
    const messages = ['The branch was rewritten: it shares no history with the change.'];
    return { kind: 'conflict', paths: await listTouchedPaths(mirror, change), messages };
  }
  const answer = await mirror.run({
    args: ['merge-tree', '--write-tree', '-z', '--name-only', '--messages', '--end-of-options', head, change],
    accept: [0, 1],
    timeLimitMs: 300_000,
  });
  const result = parseMergeTree(answer.stdout);
  if (answer.exitCode === 1) return { kind: 'conflict', paths: result.paths, messages: result.messages };
  const commit = await commitTree(mirror, {
    tree: result.tree,
    parents: [head, change],
    message: composeCommitMessage(request.message, occasion),
    at: request.at,
  });
  await pinCommit(mirror, occasion.runId, commit);
  return { kind: 'merged', commit, tree: result.tree };
}

/** Whether the first commit is the second or one of its ancestors. Both must be present. */
export async function isAncestor(mirror: MirrorReader, ancestor: CommitId, descendant: CommitId): Promise<boolean> {
  const answer = await mirror.run({
    args: ['merge-base', '--is-ancestor', ancestor, descendant],
    accept: [0, 1],
    timeLimitMs: 120_000,
  });
  return answer.exitCode === 0;
}

async function haveCommonHistory(mirror: MirrorReader, one: CommitId, other: CommitId): Promise<boolean> {
  const answer = await mirror.run({ args: ['merge-base', one, other], accept: [0, 1], timeLimitMs: 120_000 });
  return answer.exitCode === 0;
}

/** What a commit changed in its parent. */
async function listTouchedPaths(mirror: MirrorReader, commit: CommitId): Promise<readonly string[]> {
  const args = ['diff-tree', '-r', '-z', '--root', '--no-commit-id', '--name-only', '--end-of-options', commit];
  return splitAtNul((await mirror.run({ args, timeLimitMs: 120_000 })).stdout).map(show);
}

/** `tree NUL (path NUL)* NUL (count NUL path*count type NUL message NUL)*`, as git-merge-tree documents for -z. */
function parseMergeTree(output: Buffer): { tree: TreeId; paths: readonly string[]; messages: readonly string[] } {
  const fields = splitAtNul(output);
  const tree = readTreeId(fields[0]?.toString('latin1') ?? '');
  let at = 1;
  const paths = new Set<string>();
  for (; at < fields.length && (fields[at]?.length ?? 0) > 0; at += 1) paths.add(show(fields[at]));
  at += 1;
  const messages: string[] = [];
  while (at < fields.length) {
    const count = Number(fields[at]?.toString('latin1'));
    if (!Number.isInteger(count)) break;
    messages.push(show(fields[at + count + 2]).trim());
    at += count + 3;
  }
  return { tree, paths: [...paths], messages };
}

function show(bytes: Buffer | undefined): string {
  return toVisibleText(bytes ?? Buffer.alloc(0));
}
