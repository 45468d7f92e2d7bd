import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { readCgroupProcesses } from './cgroup-processes.ts';
import { killEverything } from './command.ts';
import type { ContainerProcess, DockerEngine } from './docker-engine.ts';

const killTimeoutMs = 5000;
const tries = 3;

/**
 * Ends every process of the sandbox user in a container, and looks from outside that none is left. When there is no room
 * for one more process to do it with (a fork bomb at its limit), the container is restarted, which the kernel makes certain.
 */
export async function killTree(engine: DockerEngine, container: string, user: string): Promise<'killed' | 'restarted'> {
  for (let round = 1; round <= tries; round += 1) {
    if (!(await tryKill(engine, container, user))) break;
    if ((await survivors(engine, container)).length === 0) return 'killed';
  }
  await engine.restartContainer(container);
  return 'restarted';
}

/**
 * Living processes that are not of the container's own user, but for the spared one; a zombie has nothing left to do anything with. Throws SLOT_LOST
 * when the container's first process is not among them: then the container is going away, and so is all that was in it.
 */
export async function survivors(
  engine: DockerEngine,
  container: string,
  spared?: number,
): Promise<readonly ContainerProcess[]> {
  const isLiving = ({ state }: ContainerProcess): boolean => !/^[ZX]/.test(state);
  const ofKernel = (await readCgroupProcesses(container))?.filter(isLiving);
  const living = ofKernel?.some(({ first }) => first)
    ? ofKernel
    : (await engine.listProcesses(container)).filter(isLiving);
  const first = living.find((process) => process.first);
  if (first === undefined) {
    throw new FlotillaError(errors.slotLost, { slot: container.slice(0, 12), reason: 'its first process has ended' });
  }
  return living.filter(({ uid, pid }) => uid !== first.uid && pid !== spared);
}

async function tryKill(engine: DockerEngine, container: string, user: string): Promise<boolean> {
  const outOfTime = new AbortController();
  const killed = killOnce(engine, container, user).finally(() => outOfTime.abort());
  const late = delay(killTimeoutMs, false, { signal: outOfTime.signal }).catch(() => false);
  return Promise.race([killed, late]);
}

async function killOnce(engine: DockerEngine, container: string, user: string): Promise<boolean> {
  const request = { argv: killEverything, user, directory: '/', environment: {}, stdin: false };
  try {
    const { stream } = await engine.startExec(container, request);
    stream.resume();
    await new Promise<void>((resolve) => {
      stream
        .on('end', resolve)
        .on('close', resolve)
        .on('error', () => resolve());
    });
    return true;
  } catch (error) {
    // A lost container or engine is the caller's to hear of; what the engine could not start in it is not.
    if (error instanceof FlotillaError) throw error;
    return false;
  }
}
