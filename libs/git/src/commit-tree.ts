import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import type { MirrorReader } from './mirror.ts';
import { readCommitId } from './object-id.ts';

export interface Author {
  readonly name: string;
  readonly email: string;
}

const fleetAuthor: Author = { name: 'Flotilla', email: 'flotilla@flotilla.invalid' };

export interface CommitRequest {
  readonly tree: TreeId;
  readonly parents: readonly CommitId[];
  readonly message: string;
  /** Default: the fleet. The committer always is the fleet. */
  readonly author?: Author | undefined;
  /** Both dates, to the second, in UTC: the same request gives the same id. */
  readonly at: Date;
}

/** Writes a commit object; no ref is touched. */
export async function commitTree(mirror: MirrorReader, request: CommitRequest): Promise<CommitId> {
  const author = request.author ?? fleetAuthor;
  const date = `@${Math.floor(request.at.getTime() / 1000)} +0000`;
  const answer = await mirror.run({
    args: ['commit-tree', request.tree, ...request.parents.flatMap((parent) => ['-p', parent])],
    input: request.message,
    variables: {
      GIT_AUTHOR_NAME: plainName(author.name),
      GIT_AUTHOR_EMAIL: plainName(author.email),
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: fleetAuthor.name,
      GIT_COMMITTER_EMAIL: fleetAuthor.email,
      GIT_COMMITTER_DATE: date,
    },
  });
  return readCommitId(answer.stdout.toString('utf8'));
}

function plainName(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}<>\n]/gu, ' ')
    .trim()
    .slice(0, 200);
  return /[\p{L}\p{N}]/u.test(plain) ? plain : 'unknown';
}
