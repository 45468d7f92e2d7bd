import type { CommitId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { ensureCommit } from './ensure-commit.ts';
import { openMirror, type Mirror } from './mirror.ts';
import type { RunGit } from './run-git.ts';

/** A commit and the bundle in the `changes` bucket that carries it. */
export interface StoredCommit {
  readonly commit: CommitId;
  readonly bundle: string;
}

/** The `changes` bucket. */
export interface BundleSource {
  has(name: string): Promise<boolean>;
  get(name: string): Promise<Uint8Array>;
}

export interface StoredMirrorOptions {
  readonly git: RunGit;
  readonly mirrorDirectory: string;
  /** Canonical identity of the remote, as `open` answered it. */
  readonly repository: string;
  readonly signal?: AbortSignal;
}

/**
 * Opens this host's mirror of a repository for a service that has no credential: it never speaks to the remote. On a host
 * where the merger works too it is the merger's own mirror, and most commits are there already.
 */
export function openStoredMirror({ git, mirrorDirectory, repository, signal }: StoredMirrorOptions): Promise<Mirror> {
  const remote = { kind: 'local', url: '/var/empty/no-remote', origin: undefined, canonicalId: repository } as const;
  return openMirror({ cacheDirectory: mirrorDirectory, access: { remote, credential: { kind: 'none' } }, git, signal });
}

/**
 * Makes commits present in the order given, each from its bundle where it is absent: a bundle may build on the commits
 * before it. Throws commitUnavailable.
 */
export async function ensureStoredCommits(
  mirror: Mirror,
  bundles: BundleSource,
  commits: readonly StoredCommit[],
): Promise<void> {
  for (const { commit, bundle } of commits) {
    try {
      await ensureCommit(mirror, commit, { first: 'bundle', loadBundle: () => findBundle(bundles, bundle) });
    } catch (error) {
      if (!(error instanceof FlotillaError) || !error.is(errors.remoteNotFound)) throw error;
      throw new FlotillaError(
        errors.commitUnavailable,
        { remote: mirror.access.remote.canonicalId, commit },
        { cause: error },
      );
    }
  }
}

async function findBundle(bundles: BundleSource, name: string): Promise<Uint8Array | undefined> {
  return (await bundles.has(name)) ? bundles.get(name) : undefined;
}
