import { hasEnded, identifyProcess } from './process-identity.ts';

/**
 * A new pool's name. It tells which process keeps the pool, so that whoever finds one of its slots knows at once whether anybody
 * will come back for it: the name stands in the slot's record and on its container.
 */
export async function nameOwner(newId: () => string, pid: number): Promise<string> {
  const identity = await identifyProcess(pid);
  return identity === undefined ? `pool-${newId()}` : `pool-${newId()}.${identity}`;
}

/** Whether the process of a pool is known to have ended, and the pool with it. */
export async function ownerHasEnded(owner: string): Promise<boolean> {
  const begin = owner.indexOf('.');
  return begin !== -1 && hasEnded(owner.slice(begin + 1));
}
