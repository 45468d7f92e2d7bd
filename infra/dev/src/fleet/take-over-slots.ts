import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectToDocker } from '../docker-engine/connect.ts';
import type { Report } from '../report.ts';

export interface SlotsOwnership {
  /** Of the fleet whose data directory this process has locked: no other fleet uses what lies below it. */
  readonly dataDirectory: string;
  readonly installation: string;
  readonly dockerHost: string;
  readonly report: Report;
}

/**
 * Hands the directory of sandbox slots to this installation where another one made it: the directory was copied, or what names
 * the installation was lost. Slots are a cache; their containers are removed here, their directories by the services. A
 * directory that leads elsewhere, or that no installation has marked, is left to SLOT_DIRECTORY_FOREIGN.
 */
export async function takeOverSlots({
  dataDirectory,
  installation,
  dockerHost,
  report,
}: SlotsOwnership): Promise<void> {
  const directory = join(dataDirectory, 'slots');
  // The marker and the label of libs/sandbox: slots-directory.ts, slot-labels.ts.
  const marker = join(directory, '.flotilla-slots');
  const owner = await readFile(marker, 'utf8').catch(() => undefined);
  if (owner === undefined || owner === installation || !(await lstat(directory)).isDirectory()) return;
  const connection = await connectToDocker({ DOCKER_HOST: dockerHost });
  if (connection.kind === 'silent') return;
  const { docker } = connection;
  const labelled = await docker.listContainers({
    all: true,
    filters: { label: [`flotilla.installation=${owner}`] },
  });
  // Where the directory is a copy, the original's containers carry the label too.
  const ours = labelled.filter(({ Mounts }) => Mounts.some(({ Source }) => Source.startsWith(`${directory}/`)));
  for (const { Id } of ours) await docker.getContainer(Id).remove({ force: true, v: true });
  await writeFile(marker, installation);
  report.warn('slots', `${directory} was made by the installation ${owner}; it is taken over by ${installation}`);
}
