import type { CommitId } from '@flotilla/contracts/ids';
import { RENEW_BASE_AFTER_MS } from '@flotilla/contracts/streams';
import { baseBundleName } from './domain/bundle-names.ts';

/** The `changes` bucket, as bases are kept in it. */
export interface BaseStore {
  find(name: string): Promise<{ readonly storedAt: Date } | undefined>;
  /** Also where it is there. */
  renew(name: string, bytes: Uint8Array): Promise<void>;
}

/**
 * Stores a commit of the remote with its history for all runs that begin there, and answers the name of its bundle. One that was stored
 * long ago is stored anew: an old one that no run tells of yet may be removed at any moment.
 */
export async function storeBase(
  bases: BaseStore,
  commit: CommitId,
  now: Date,
  createBundle: () => Promise<Uint8Array>,
): Promise<string> {
  const name = baseBundleName(commit);
  const found = await bases.find(name);
  const isYoung = found !== undefined && now.getTime() - found.storedAt.getTime() < RENEW_BASE_AFTER_MS;
  if (!isYoung) await bases.renew(name, await createBundle());
  return name;
}
