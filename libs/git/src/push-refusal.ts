import { errors } from '@flotilla/errors/catalogue';
import { judgeRemoteFailure } from './remote-failure.ts';
import type { Remote } from './remote.ts';
import type { GitAnswer } from './run-git.ts';

export type RefusalReason =
  'protected-branch' | 'hook' | 'credential' | 'checked-out' | 'read-only' | 'not-a-fast-forward' | 'other';

export interface PushRefusal {
  readonly reason: RefusalReason;
  /** What the remote said, scrubbed; its own words, such as those of a hook, come before git's. */
  readonly text: string;
  readonly advice: string;
}

export type PushVerdict =
  | { readonly kind: 'accepted' }
  /** The old value was not the expected one, or so the remote says. */
  | { readonly kind: 'rejected'; readonly refusal: PushRefusal }
  | ({ readonly kind: 'refused' } & PushRefusal);

const signs: readonly (readonly [pattern: RegExp, reason: RefusalReason])[] = [
  [/branch is currently checked out|refusing to update checked out branch/i, 'checked-out'],
  [/protected branch|GH006|GH013|rule violations|branch is protected/i, 'protected-branch'],
  [
    /marked as read only|write access to repository not granted|permission to .* denied|not allowed to push/i,
    'credential',
  ],
  [/hook declined/i, 'hook'],
  [
    /unable to create temporary object directory|insufficient permission|Permission denied|Read-only file system/i,
    'read-only',
  ],
];

const advices: Readonly<Record<RefusalReason, string>> = {
  'protected-branch':
    'Let the fleet push to this branch in the rules of the forge, or name another branch for the project.',
  hook: 'Put right what the hook of the remote asks for, or have it accept the fleet.',
  credential: 'Give the project a credential that may write to this repository.',
  'checked-out':
    'The remote is a repository with this branch checked out: use a bare repository, check out another branch there, or name another branch for the project.',
  'read-only': 'Let the user the fleet runs as write to the repository.',
  'not-a-fast-forward': 'Merge the change onto the head of the branch first.',
  other: 'Read what the remote says and put it right there.',
};

/** Judges what `git push --porcelain` answered for one ref. Throws the remote's error when it was not reached. */
export function judgePush(remote: Remote, answer: GitAnswer, ref: string): PushVerdict {
  const line = answer.stdout
    .toString('utf8')
    .split('\n')
    .map((text) => text.split('\t'))
    .find(([, refs]) => refs?.endsWith(`:${ref}`));
  const [flag, , summary = ''] = line ?? [];
  if (flag === undefined) return judgeUnanswered(remote, answer);
  if (flag !== '!') return { kind: 'accepted' };
  const text = describeRefusal(summary, answer.complaint);
  const reason = signs.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
  const refusal = { reason, text, advice: advices[reason] };
  const isRace =
    /stale info|fetch first|non-fast-forward|already exists|cannot lock ref|failed to update ref|incorrect old value/i.test(
      summary,
    );
  return isRace ? { kind: 'rejected', refusal } : { kind: 'refused', ...refusal };
}

function judgeUnanswered(remote: Remote, answer: GitAnswer): PushVerdict {
  if (answer.exitCode === 0) return { kind: 'accepted' };
  const reason = signs.find(([pattern]) => pattern.test(answer.complaint))?.[1];
  const failure = judgeRemoteFailure(remote, answer.complaint);
  const refused = failure.is(errors.remoteCredentialRefused) ? 'credential' : reason;
  if (refused === undefined) throw failure;
  return { kind: 'refused', reason: refused, text: describeRefusal('', answer.complaint), advice: advices[refused] };
}

const remotePrefix = /^remote:\s?/;
/** What git adds to every refusal, or what is advice to somebody at a keyboard. */
const noise = /^(hint:|To |error: failed to push some refs|Everything up-to-date)/;

function describeRefusal(summary: string, complaint: string): string {
  const lines = complaint.split('\n').filter((line) => !noise.test(line));
  const fromRemote = lines.filter((line) => remotePrefix.test(line)).map((line) => line.replace(remotePrefix, ''));
  const fromGit = lines.filter((line) => !remotePrefix.test(line));
  return [...fromRemote, summary, ...fromGit].filter((line) => line.trim() !== '').join('\n');
}
