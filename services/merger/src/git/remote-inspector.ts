import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InspectRemote } from '@flotilla/contracts/calls/inspect-remote';
import type { RequestOf, ResponseOf } from '@flotilla/contracts/define-call';
import { resolveBranch } from '@flotilla/git/resolve-branch';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { openRemoteMirror, type RemoteMirrors } from './open-remote-mirror.ts';

/** A remote that has said nothing for so long is not there for whoever waits; below the call's own limit. */
const patienceMs = 15_000;

/** Asks remotes what they have, and leaves nothing behind. */
export class RemoteInspector {
  readonly #mirrors: RemoteMirrors;
  readonly #patienceMs: number;

  constructor(mirrors: RemoteMirrors, patience = patienceMs) {
    this.#mirrors = mirrors;
    this.#patienceMs = patience;
  }

  /** Throws the errors that opening the repository would: what cannot be reached or read, is empty or has no such branch. */
  async inspect({
    remote,
    credential,
    branch,
  }: RequestOf<typeof InspectRemote>): Promise<ResponseOf<typeof InspectRemote>> {
    const { mirrorDirectory } = this.#mirrors;
    await mkdir(mirrorDirectory, { recursive: true, mode: 0o700 });
    const scratch = await mkdtemp(join(mirrorDirectory, 'inspect-'));
    const patience = AbortSignal.timeout(this.#patienceMs);
    try {
      const mirror = await openRemoteMirror(
        { ...this.#mirrors, mirrorDirectory: scratch },
        { remote, credential },
        patience,
      );
      const found = await resolveBranch(mirror, branch);
      return { repository: mirror.access.remote.canonicalId, branch: found.branch, commit: found.commit };
    } catch (error) {
      if (!patience.aborted) throw error;
      const reason = `it said nothing for ${this.#patienceMs / 1000} s`;
      throw new FlotillaError(errors.remoteUnreachable, { remote, reason }, { cause: error });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
}
