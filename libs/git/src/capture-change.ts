import { closeSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangedFile } from '@flotilla/contracts/change';
import type { CommitId, TreeId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { collectChanges, type CaptureLimits, type WorkspaceMemory } from './collect-changes.ts';
import { composeCommitMessage, type CommitOccasion } from './commit-message.ts';
import { commitTree, type Author } from './commit-tree.ts';
import { listChangedFiles } from './diff.ts';
import { fsckTolerance } from './fsck-tolerance.ts';
import { createIgnoreRules } from './ignore-rules.ts';
import type { Mirror } from './mirror.ts';
import { readTreeId } from './object-id.ts';
import { openRoot } from './open-beneath.ts';
import { pinCommit } from './pin.ts';
import { listTree, readTreeOf } from './read-tree.ts';
import { walkWorkspace } from './walk-workspace.ts';

export interface CaptureRequest {
  /** The commit that was laid; parent of the captured one. */
  readonly base: CommitId;
  /** Root of the workspace. No process of the sandbox user lives (or the container is paused) while it is captured. */
  readonly directory: string;
  /** What changed, in anybody's words: it cannot set one of the fleet's trailers. */
  readonly message: string;
  readonly occasion: CommitOccasion;
  /** Both dates of the commit. The same workspace, message and time give the same commit id. */
  readonly at: Date;
  /** Default: the fleet. */
  readonly author?: Author;
  /** Paths from the root that the setup laid; they count as ignored. Default: none. */
  readonly exclude?: readonly string[];
  readonly limits?: Partial<CaptureLimits>;
  /** Kept by the caller between captures of one workspace: unchanged files are then not read again. */
  readonly memory?: WorkspaceMemory;
}

export type CapturedChange =
  | { readonly kind: 'no_changes' }
  | {
      readonly kind: 'changed';
      readonly commit: CommitId;
      readonly tree: TreeId;
      readonly files: readonly ChangedFile[];
    };

const defaultLimits: CaptureLimits = {
  entries: 500_000,
  changedFiles: 10_000,
  fileBytes: 50 * 1024 * 1024,
  totalBytes: 200 * 1024 * 1024,
};

/**
 * Turns the workspace into a commit on its base and pins it for the run. Git never looks into the workspace: we walk and
 * read it on descriptors that follow no link, and give git only contents, from a private directory. Throws changeRefused
 * and changeTooLarge, which the author of the change can put right.
 */
export async function captureChange(mirror: Mirror, request: CaptureRequest): Promise<CapturedChange> {
  const root = openRoot(request.directory);
  try {
    const tree = await mirror.withScratch((scratch) => writeWorkspaceTree(mirror, request, root, scratch));
    if (tree === (await readTreeOf(mirror, request.base))) return { kind: 'no_changes' };
    const { base, message, occasion, author, at } = request;
    const commit = await commitTree(mirror, {
      tree,
      parents: [base],
      message: composeCommitMessage(message, occasion),
      author,
      at,
    });
    await checkNewObjects(mirror, base, commit);
    await pinCommit(mirror, occasion.runId, commit);
    return { kind: 'changed', commit, tree, files: await listChangedFiles(mirror, base, commit) };
  } finally {
    closeSync(root);
  }
}

async function writeWorkspaceTree(
  mirror: Mirror,
  request: CaptureRequest,
  root: number,
  scratch: string,
): Promise<TreeId> {
  const limits = { ...defaultLimits, ...request.limits };
  const base = await listTree(mirror, request.base);
  const walk = await walkWorkspace({
    root,
    base,
    rules: createIgnoreRules(mirror, scratch, base),
    exclude: new Set((request.exclude ?? []).map(toPathBytes)),
    entryLimit: limits.entries,
  });
  const changes = await collectChanges({ mirror, root, base, walk, limits, scratch, memory: request.memory });
  const variables = { GIT_INDEX_FILE: join(scratch, 'index') };
  await mirror.run({ args: ['read-tree', request.base], variables, timeLimitMs: 300_000 });
  if (changes.length > 0) await updateIndex(mirror, variables, changes);
  const written = await mirror.run({ args: ['write-tree'], variables, timeLimitMs: 300_000 });
  return readTreeId(written.stdout.toString('utf8'));
}

/** Git passes over a path that it finds dangerous and goes on, so what it complains about is refused here. */
async function updateIndex(
  mirror: Mirror,
  variables: Readonly<Record<string, string>>,
  changes: readonly Buffer[],
): Promise<void> {
  const input = Buffer.concat(changes);
  const answer = await mirror.run({
    args: ['update-index', '-z', '--index-info'],
    variables,
    input,
    timeLimitMs: 300_000,
  });
  if (answer.complaint === '') return;
  throw new FlotillaError(errors.changeRefused, { reason: 'git takes no such path', path: answer.complaint });
}

function toPathBytes(path: string): string {
  return Buffer.from(path.replace(/^(\.?\/)+/, '').replace(/\/+$/, '')).toString('latin1');
}

/** Checks what the change adds as strictly as a bundle is checked, so that it is refused here, where it can be put right. */
async function checkNewObjects(mirror: Mirror, base: CommitId, commit: CommitId): Promise<void> {
  const pack = await mirror.run({
    args: ['pack-objects', '--quiet', '--revs', '--stdout', '--thin', '--delta-base-offset'],
    input: `${commit}\n^${base}\n`,
    outputLimitBytes: 1024 * 1024 * 1024,
    timeLimitMs: 300_000,
  });
  await mirror.withScratch(async (scratch) => {
    const variables = {
      GIT_OBJECT_DIRECTORY: scratch,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(mirror.gitDirectory, 'objects'),
    };
    const args = ['index-pack', '--stdin', '--fix-thin', `--strict=${fsckTolerance}`];
    const answer = await mirror.run({ args, variables, input: pack.stdout, accept: 'any', timeLimitMs: 300_000 });
    if (answer.exitCode === 0) return;
    throw new FlotillaError(errors.changeRefused, {
      reason: 'git finds a file or name dangerous or malformed',
      path: answer.complaint,
    });
  });
}
