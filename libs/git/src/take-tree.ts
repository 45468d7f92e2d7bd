import type { CommitId } from '@flotilla/contracts/ids';
import type { BranchName } from './branch-name.ts';
import type { Mirror } from './mirror.ts';
import { readCommitId } from './object-id.ts';
import { toleratedBlemishes } from './fsck-tolerance.ts';

/**
 * Fetches what a branch is at and nothing of its history, into a mirror that is thrown away afterwards: what is left there is no whole
 * commit. Throws the remote's error, or the abort reason.
 */
export async function takeTree(mirror: Mirror, branch: BranchName): Promise<CommitId> {
  const taken = 'refs/mirror/taken';
  await mirror.runRemote({
    args: [
      ...['fetch', '--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules'],
      ...['--no-auto-maintenance', '--refmap=', '--end-of-options', mirror.access.remote.url],
      `+refs/heads/${branch}:${taken}`,
    ],
    settings: [
      ['transfer.fsckObjects', 'true'],
      ...toleratedBlemishes.map((blemish) => [`fetch.fsck.${blemish}`, 'ignore'] as const),
    ],
  });
  const answer = await mirror.run({ args: ['rev-parse', '--verify', '--end-of-options', `${taken}^{commit}`] });
  return readCommitId(answer.stdout.toString('utf8').trim());
}
