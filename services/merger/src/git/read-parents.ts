import type { CommitId } from '@flotilla/contracts/ids';
import type { Mirror } from '@flotilla/git/mirror';
import { readCommitId } from '@flotilla/git/object-id';

/** The parents of a commit that is here, in their order. */
export async function readParents(mirror: Mirror, commit: CommitId): Promise<readonly CommitId[]> {
  const answer = await mirror.run({
    args: ['log', '-1', '--no-show-signature', '--format=%P', '--end-of-options', commit],
  });
  const line = answer.stdout.toString('utf8').trim();
  return line === '' ? [] : line.split(' ').map(readCommitId);
}
