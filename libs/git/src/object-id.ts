import { CommitId, TreeId } from '@flotilla/contracts/ids';

/** Reads a commit id that git printed. */
export function readCommitId(text: string): CommitId {
  return CommitId.parse(text.trim());
}

/** Reads a tree id that git printed. */
export function readTreeId(text: string): TreeId {
  return TreeId.parse(text.trim());
}

/** What git prints for "nothing there". */
export const zeroId = '0'.repeat(40);
