import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileLock } from './file-lock.ts';
import { neutralAttributes } from './neutral-attributes.ts';
import { judgeRemoteFailure } from './remote-failure.ts';
import { reachRemote, type RemoteAccess } from './remote-access.ts';
import { describeRemote } from './remote.ts';
import { commandName, gitFailure, type GitAnswer, type GitCall, type RunGit } from './run-git.ts';

/** File of a mirror that is made last; its time is that of the making or of the last maintenance. */
export const wholeMark = 'flotilla-mirror';

export interface MirrorOptions {
  /** Directory of this host's mirrors; made when absent. May be shared by the containers of one host. */
  readonly cacheDirectory: string;
  readonly access: RemoteAccess;
  readonly git: RunGit;
  /** Keeps apart what must not be shared, such as two tenants. Default: one space for all. */
  readonly space?: string | undefined;
  /** How long to wait for another holder of the mirror. Default 600 000. */
  readonly lockWaitLimitMs?: number | undefined;
  /** Limit of one transfer from or to the remote. Default 900 000. */
  readonly transferLimitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A mirror's repository on this host, without its remote. */
export interface MirrorFiles {
  readonly gitDirectory: string;
  /** Runs git on the mirror. */
  run(call: Omit<GitCall, 'gitDirectory'>): Promise<GitAnswer>;
}

/** What can be done with a mirror at any time: reading, and writing objects. */
export interface MirrorReader extends MirrorFiles {
  readonly access: RemoteAccess;
  /** For errors: the remote's address without a credential. */
  readonly remoteName: string;
  readonly cacheDirectory: string;
  /** Runs git so that it can reach the remote. Its failures are told in the words of the catalogue. */
  runRemote(call: Omit<GitCall, 'gitDirectory' | 'accept'>): Promise<GitAnswer>;
  /** As `runRemote`, for a caller that judges the exit code and the complaint itself. */
  tryRemote(call: Omit<GitCall, 'gitDirectory' | 'accept'>): Promise<GitAnswer>;
  /** Runs git on another repository that this process made, such as one about to be handed to a sandbox. */
  runElsewhere(gitDirectory: string, call: Omit<GitCall, 'gitDirectory'>): Promise<GitAnswer>;
  /** An empty directory for private files of one operation, removed afterwards. */
  withScratch<Result>(work: (directory: string) => Promise<Result>): Promise<Result>;
}

/** A bare repository on this host that caches one remote. It holds no truth and may be removed while nobody uses it. */
export interface Mirror extends MirrorReader {
  /** Runs `work` as the only writer of refs on this host. Not re-entrant. */
  withLock<Result>(work: (locked: LockedMirror) => Promise<Result>): Promise<Result>;
}

/** The mirror while this process is its only writer; every program started through it keeps the lock while it lives. */
export interface LockedMirror extends MirrorReader {
  /** Throws the cache away and starts an empty one. Pins go too; what they pinned is ensured again when it is needed. */
  remake(): Promise<void>;
}

/** Opens the mirror of a remote and makes it when there is none. Does not speak to the remote. Safe to repeat. */
export async function openMirror(options: MirrorOptions): Promise<Mirror> {
  const key = mirrorKey(options);
  await mkdir(options.cacheDirectory, { recursive: true, mode: 0o700 });
  const gitDirectory = join(options.cacheDirectory, `${key}.git`);
  const lockPath = join(options.cacheDirectory, `${key}.lock`);
  const holds = describeRemote(options.access.remote);
  const waitLimitMs = options.lockWaitLimitMs ?? 600_000;
  const lock = <Result>(work: (descriptor: number) => Promise<Result>): Promise<Result> =>
    withFileLock(lockPath, { waitLimitMs, holds, signal: options.signal }, work);

  if (!(await isWhole(gitDirectory))) await lock(() => makeRepository(options, gitDirectory));
  const bindLocked = (descriptor: number): LockedMirror => ({
    ...bindMirror(options, gitDirectory, [descriptor]),
    async remake() {
      await rm(gitDirectory, { recursive: true, force: true });
      await makeRepository(options, gitDirectory);
    },
  });
  return {
    ...bindMirror(options, gitDirectory, []),
    withLock: (work) => lock((descriptor) => work(bindLocked(descriptor))),
  };
}

export interface KeptMirrorOptions extends Pick<
  MirrorOptions,
  'cacheDirectory' | 'git' | 'lockWaitLimitMs' | 'signal'
> {
  /** As `listMirrors` names it. */
  readonly key: string;
}

/** A mirror that is there, for work on its files alone. */
export interface KeptMirror extends MirrorFiles {
  /** As of `Mirror`. */
  withLock<Result>(work: (locked: MirrorFiles) => Promise<Result>): Promise<Result>;
}

/** Opens a mirror by its name, whatever its remote is. Makes nothing. */
export function openKeptMirror(options: KeptMirrorOptions): KeptMirror {
  const { cacheDirectory, key, signal } = options;
  const gitDirectory = join(cacheDirectory, `${key}.git`);
  const lock = { waitLimitMs: options.lockWaitLimitMs ?? 600_000, holds: key, signal };
  return {
    ...bindFiles(options, gitDirectory, []),
    withLock: (work) =>
      withFileLock(join(cacheDirectory, `${key}.lock`), lock, (descriptor) =>
        work(bindFiles(options, gitDirectory, [descriptor])),
      ),
  };
}

export interface MirrorEntry {
  readonly key: string;
  /** When it was made or last maintained. */
  readonly maintainedAt: Date;
}

/** The whole mirrors of a cache directory; none where it is not there yet. */
export async function listMirrors(cacheDirectory: string): Promise<readonly MirrorEntry[]> {
  const names = await readdir(cacheDirectory).catch(() => []);
  const keys = names.flatMap((name) => (/^[0-9a-f]{40}\.git$/.test(name) ? [name.slice(0, 40)] : []));
  const marks = await Promise.all(
    keys.map((key) => stat(join(cacheDirectory, `${key}.git`, wholeMark)).catch(() => undefined)),
  );
  return keys.flatMap((key, index) => {
    const mark = marks[index];
    return mark === undefined ? [] : [{ key, maintainedAt: mark.mtime }];
  });
}

function mirrorKey({ access, space }: MirrorOptions): string {
  const identity = JSON.stringify([space ?? '', access.remote.canonicalId]);
  return createHash('sha256').update(identity).digest('hex').slice(0, 40);
}

type FilesOptions = Pick<MirrorOptions, 'git' | 'signal'>;

function bindFiles({ git, signal }: FilesOptions, gitDirectory: string, keepOpen: readonly number[]) {
  /** A lock file met while we are the only writer was left by a crash. */
  const attempt = async (call: Omit<GitCall, 'gitDirectory'>): Promise<GitAnswer> => {
    const bound = { signal, keepOpen, ...call, gitDirectory, accept: 'any' } as const;
    const answer = await git(bound);
    const retry =
      answer.exitCode !== 0 && keepOpen.length > 0 && (await removeLockLeftBehind(gitDirectory, answer.complaint));
    return retry ? git(bound) : answer;
  };
  const run: MirrorFiles['run'] = async (call) => {
    const answer = await attempt(call);
    const accept = call.accept ?? [0];
    if (accept === 'any' || accept.includes(answer.exitCode)) return answer;
    throw gitFailure(commandName(call), answer.exitCode, answer.complaint);
  };
  return { gitDirectory, attempt, run };
}

function bindMirror(options: MirrorOptions, gitDirectory: string, keepOpen: readonly number[]): MirrorReader {
  const { access, signal } = options;
  const reach = reachRemote(access);
  const { attempt, run } = bindFiles(options, gitDirectory, keepOpen);
  const tryRemote: Mirror['tryRemote'] = (call) =>
    attempt({
      timeLimitMs: options.transferLimitMs ?? 900_000,
      ...call,
      settings: [...(call.settings ?? []), ...reach.settings],
      variables: { ...call.variables, ...reach.variables },
      secrets: reach.secrets,
    });
  return {
    access,
    remoteName: describeRemote(access.remote),
    gitDirectory,
    cacheDirectory: options.cacheDirectory,
    run,
    runElsewhere: (elsewhere, call) => options.git({ signal, keepOpen, ...call, gitDirectory: elsewhere }),
    tryRemote,
    async runRemote(call) {
      const answer = await tryRemote(call);
      if (answer.exitCode !== 0) throw judgeRemoteFailure(access.remote, answer.complaint);
      return answer;
    },
    withScratch: (work) => withScratch(options.cacheDirectory, work),
  };
}

async function removeLockLeftBehind(gitDirectory: string, complaint: string): Promise<boolean> {
  const name = /Unable to create '<path>\/([A-Za-z0-9_./-]+\.lock)': File exists/.exec(complaint)?.[1];
  if (name === undefined || name.split('/').includes('..')) return false;
  await rm(join(gitDirectory, name), { force: true });
  return true;
}

async function isWhole(gitDirectory: string): Promise<boolean> {
  const info = await stat(join(gitDirectory, wholeMark)).catch(() => undefined);
  return info?.isFile() ?? false;
}

/** Made aside and renamed, so that a mirror that is there is whole. */
async function makeRepository(options: MirrorOptions, gitDirectory: string): Promise<void> {
  if (await isWhole(gitDirectory)) return;
  await rm(gitDirectory, { recursive: true, force: true });
  await withScratch(options.cacheDirectory, async (scratch) => {
    const made = join(scratch, 'made.git');
    await options.git({
      gitDirectory: made,
      args: ['init', '--quiet', '--bare', '--template=', '--object-format=sha1', '--initial-branch=flotilla-none'],
      signal: options.signal,
    });
    await mkdir(join(made, 'info'), { recursive: true });
    await writeFile(join(made, 'info', 'attributes'), neutralAttributes);
    await writeFile(join(made, wholeMark), `${options.access.remote.canonicalId}\n`);
    await rename(made, gitDirectory);
  });
}

async function withScratch<Result>(
  cacheDirectory: string,
  work: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(cacheDirectory, 'scratch-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
