import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { CommitId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { LockedMirror, Mirror, MirrorReader } from './mirror.ts';
import { fsckTolerance } from './fsck-tolerance.ts';
import { readCommitId } from './object-id.ts';
import { updateRefs } from './pin.ts';

export interface BundleRequest {
  readonly commit: CommitId;
  /** Commits that the receiver has; the bundle then holds only what is new. Default: none, so the whole history. */
  readonly exclude?: readonly CommitId[];
  /** Default 1 GiB; more is gitOutputTooLarge. */
  readonly limitBytes?: number;
}

export interface BundleHeader {
  /** Commits that must be present before the bundle can be taken. */
  readonly prerequisites: readonly CommitId[];
  readonly tips: readonly CommitId[];
  /** Where the pack starts. */
  readonly packOffset: number;
}

/** Writes a commit as a git bundle (version 2, one ref `refs/heads/change`), which any git can read. */
export async function createBundle(mirror: MirrorReader, request: BundleRequest): Promise<Uint8Array> {
  return mirror.withScratch(async (scratch) => {
    const path = join(scratch, 'change.bundle');
    await createBundleFile(mirror, { ...request, path });
    return readFileSync(path);
  });
}

/** As {@link createBundle}, into a file that must not exist, for histories that do not fit in memory. */
async function createBundleFile(
  mirror: MirrorReader,
  request: BundleRequest & { readonly path: string },
): Promise<void> {
  const { commit, exclude = [] } = request;
  const header = [
    '# v2 git bundle',
    ...(await listBoundary(mirror, request)).map((id) => `-${id} `),
    `${commit} refs/heads/change`,
    '',
    '',
  ];
  const file = openSync(request.path, 'wx', 0o600);
  try {
    writeSync(file, header.join('\n'));
    await mirror.run({
      args: ['pack-objects', '--quiet', '--revs', '--stdout', '--thin', '--delta-base-offset'],
      input: [commit, ...exclude.map((id) => `^${id}`), ''].join('\n'),
      onOutput: (chunk) => writeSync(file, chunk),
      outputLimitBytes: request.limitBytes ?? 1024 * 1024 * 1024,
      timeLimitMs: 900_000,
    });
  } finally {
    closeSync(file);
  }
}

async function listBoundary(
  mirror: MirrorReader,
  { commit, exclude = [] }: BundleRequest,
): Promise<readonly CommitId[]> {
  if (exclude.length === 0) return [];
  const answer = await mirror.run({
    args: ['rev-list', '--boundary', '--end-of-options', commit, ...exclude.map((id) => `^${id}`)],
    timeLimitMs: 300_000,
  });
  const lines = answer.stdout.toString('utf8').split('\n');
  return lines.filter((line) => line.startsWith('-')).map((line) => readCommitId(line.slice(1)));
}

/** Reads the header of a bundle. Throws bundleRefused for anything but version 2 with SHA-1 ids and a pack. */
export function readBundleHeader(bytes: Uint8Array): BundleHeader {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = view.indexOf('\n\nPACK', 0, 'latin1');
  const lines = view.subarray(0, Math.max(end, 0)).toString('utf8').split('\n');
  if (end < 0 || end > 1024 * 1024 || lines[0] !== '# v2 git bundle')
    refuse('it is not a version 2 bundle with a pack');
  const prerequisites: CommitId[] = [];
  const tips: CommitId[] = [];
  for (const line of lines.slice(1)) {
    const match = /^(-?)([0-9a-f]{40})(?: .*)?$/.exec(line);
    if (match?.[2] === undefined) return refuse('its header has a line that is neither a prerequisite nor a ref');
    (match[1] === '-' ? prerequisites : tips).push(readCommitId(match[2]));
  }
  if (tips.length === 0) refuse('it carries no ref');
  return { prerequisites, tips: [...new Set(tips)], packOffset: end + 2 };
}

/**
 * Takes the objects of a bundle after checking every one (`index-pack --strict`) and that its prerequisites are here.
 * Returns its tips, which stay referenced. Names in the bundle are ignored. Throws bundlePrerequisiteMissing,
 * objectsRefused or bundleRefused; nothing is kept then. Safe to repeat.
 */
export function addBundle(mirror: Mirror, bytes: Uint8Array): Promise<readonly CommitId[]> {
  return mirror.withLock((locked) => addBundleLocked(locked, bytes));
}

/** As {@link addBundle}, for a caller that holds the mirror's lock. */
export async function addBundleLocked(mirror: LockedMirror, bytes: Uint8Array): Promise<readonly CommitId[]> {
  const header = readBundleHeader(bytes);
  await requireCommits(mirror, header.prerequisites);
  const answer = await mirror.run({
    args: ['index-pack', '--stdin', '--fix-thin', `--strict=${fsckTolerance}`],
    input: bytes.subarray(header.packOffset),
    accept: 'any',
    timeLimitMs: 900_000,
  });
  if (answer.exitCode !== 0) {
    const isBroken = /fsck error|Error in object|object of unexpected type|unable to find|Not all child objects/i.test(
      answer.complaint,
    );
    throw new FlotillaError(isBroken ? errors.objectsRefused : errors.bundleRefused, { reason: answer.complaint });
  }
  await requireCommits(mirror, header.tips);
  const refs = header.tips.map((tip) => `update refs/mirror/fetched/${tip}\0${tip}\0\0`);
  await updateRefs(mirror, refs);
  return header.tips;
}

async function requireCommits(mirror: MirrorReader, commits: readonly CommitId[]): Promise<void> {
  if (commits.length === 0) return;
  const answer = await mirror.run({ args: ['cat-file', '--batch-check'], input: `${commits.join('\n')}\n` });
  const lines = answer.stdout.toString('utf8').split('\n');
  const missing = commits.filter((commit, index) => !lines[index]?.startsWith(`${commit} commit `));
  if (missing.length > 0) throw new FlotillaError(errors.bundlePrerequisiteMissing, { commits: missing.join(', ') });
}

function refuse(reason: string): never {
  throw new FlotillaError(errors.bundleRefused, { reason });
}
