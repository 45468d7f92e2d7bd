import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunId } from '@flotilla/contracts/ids';
import { readSlotRecord } from '@flotilla/sandbox/slot-record';
import Dockerode from 'dockerode';

/** Containers and directories of slots that a run left behind. */
export async function slotsLeft(
  run: RunId,
  dataDirectory: string,
  docker = new Dockerode(),
): Promise<readonly string[]> {
  const containers = await docker.listContainers({ all: true });
  const ofRun = containers.filter(({ Labels }) => Object.values(Labels).includes(run)).map(({ Id }) => Id);
  const slots = join(dataDirectory, 'slots/slots');
  const names = await readdir(slots).catch(() => []);
  const records = await Promise.all(names.map((name) => readSlotRecord(join(slots, name)).catch(() => undefined)));
  return [...ofRun, ...names.filter((_, index) => records[index]?.claim?.run === run)];
}
