import { dependencyDirectories } from '@flotilla/contracts/dependency-directories';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommitId } from '@flotilla/contracts/ids';
import { parseBranchName } from './branch-name.ts';
import { giveTree, type Owner } from './give-tree.ts';
import type { Mirror } from './mirror.ts';
import { readCommitId } from './object-id.ts';
import { readTreeOf } from './read-tree.ts';

export interface ThrowAwayRequest {
  readonly commit: CommitId;
  /** The workspace in which the commit's tree was just laid and which no sandbox process uses yet. Has no `.git`. */
  readonly directory: string;
  /** What `git status` calls the branch. Default `main`. */
  readonly branch?: string;
  /** Names at the root that `git status` leaves out, beside the directories that package managers fill. Default: none. */
  readonly exclude?: readonly string[];
  readonly owner?: Owner | undefined;
}

/**
 * Makes `<directory>/.git`: one commit without history, so that `git status` and `git diff` work in the sandbox. From then
 * on it belongs to the sandbox and the host never opens it. It holds no remote and no credential.
 */
export async function makeThrowAwayRepository(mirror: Mirror, request: ThrowAwayRequest): Promise<void> {
  const gitDirectory = join(request.directory, '.git');
  await mkdir(gitDirectory);
  const branch = parseBranchName(request.branch ?? 'main');
  const root = await commitWithoutHistory(mirror, request.commit);
  const pack = await mirror.run({
    args: ['pack-objects', '--quiet', '--revs', '--stdout', '--delta-base-offset'],
    input: `${root}\n`,
    outputLimitBytes: 1024 * 1024 * 1024,
    timeLimitMs: 600_000,
  });
  await mirror.runElsewhere(gitDirectory, { args: ['init', '--quiet', '--template='] });
  await mirror.runElsewhere(gitDirectory, {
    args: ['index-pack', '--stdin'],
    input: pack.stdout,
    timeLimitMs: 600_000,
  });
  await mirror.runElsewhere(gitDirectory, { args: ['update-ref', `refs/heads/${branch}`, root] });
  await mirror.runElsewhere(gitDirectory, { args: ['symbolic-ref', 'HEAD', `refs/heads/${branch}`] });
  await mirror.runElsewhere(gitDirectory, {
    args: ['read-tree', root],
    variables: { GIT_INDEX_FILE: join(gitDirectory, 'index') },
  });
  await writeFile(join(gitDirectory, 'config'), sandboxConfiguration);
  await mkdir(join(gitDirectory, 'info'), { recursive: true });
  const hidden = [
    ...dependencyDirectories.map((name) => `${name}/`),
    ...(request.exclude ?? []).map((name) => `/${name}`),
  ];
  await writeFile(join(gitDirectory, 'info', 'exclude'), hidden.map((pattern) => `${pattern}\n`).join(''));
  if (request.owner !== undefined) await giveTree(gitDirectory, request.owner);
}

const sandboxConfiguration = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = false
\tlogallrefupdates = true
\ttrustctime = false
[user]
\tname = Flotilla sandbox
\temail = sandbox@flotilla.invalid
[gc]
\tauto = 0
`;

async function commitWithoutHistory(mirror: Mirror, commit: CommitId): Promise<CommitId> {
  const tree = await readTreeOf(mirror, commit);
  const identity = { NAME: 'Flotilla sandbox', EMAIL: 'sandbox@flotilla.invalid', DATE: '@0 +0000' };
  const variables = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(identity).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  );
  const answer = await mirror.run({
    args: ['commit-tree', tree],
    input: `Start of this step (${commit})\n`,
    variables,
  });
  return readCommitId(answer.stdout.toString('utf8'));
}
