import { readFile } from 'node:fs/promises';
import type { ContainerProcess } from './docker-engine.ts';

const looks = 5;

/** Where the kernel lists the processes of a container: with one tree of control groups or several, kept by systemd or not. */
const filesOf = (container: string): readonly string[] =>
  ['/sys/fs/cgroup', '/sys/fs/cgroup/pids'].flatMap((root) => [
    `${root}/docker/${container}/cgroup.procs`,
    `${root}/system.slice/docker-${container}.scope/cgroup.procs`,
  ]);

/**
 * The processes of a container as this host's kernel lists them, in a fraction of the time that the engine takes. Undefined where it
 * does not: the engine runs elsewhere, this process sees other process ids, or what is listed ends faster than it is looked at.
 */
export async function readCgroupProcesses(container: string): Promise<readonly ContainerProcess[] | undefined> {
  for (let look = 0; look < looks; look += 1) {
    const pids = await listPids(container);
    if (pids === undefined || pids.length === 0 || pids.includes(0)) return undefined;
    const found = await Promise.all(pids.map(readProcess));
    const processes = found.filter((process) => process !== undefined);
    // What ended meanwhile may have begun another.
    if (processes.length < pids.length) continue;
    const depth = Math.min(...processes.map(({ ids }) => ids.length));
    if (depth < 2) return undefined;
    return processes.map(({ ids, ...process }) => ({ ...process, first: ids.length === depth && ids.at(-1) === 1 }));
  }
  return undefined;
}

async function listPids(container: string): Promise<readonly number[] | undefined> {
  for (const file of filesOf(container)) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return text.split('\n').filter(Boolean).map(Number);
  }
  return undefined;
}

async function readProcess(pid: number) {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const field = (name: string): readonly string[] =>
    new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(text)?.[1]?.split(/\s+/) ?? [];
  return { pid, uid: Number(field('Uid')[1]), state: field('State')[0] ?? '', ids: field('NSpid').map(Number) };
}
