import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentReport } from '../report.ts';
import { ensureSandboxImage } from '../sandbox-image.ts';
import { takeOverSlots } from './take-over-slots.ts';

const docker = new Dockerode();
const dockerHost = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
let root = '';
let other = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flotilla-take-over-'));
  other = `fleet-${root.slice(-6)}`;
});
afterEach(async () => {
  for (const { Id } of await listContainers()) await docker.getContainer(Id).remove({ force: true });
  await rm(root, { recursive: true, force: true });
});

const listContainers = () =>
  docker.listContainers({ all: true, filters: { label: [`flotilla.installation=${other}`] } });

/** A directory of slots that the other installation made, with a container of one slot. */
async function makeSlots(dataDirectory: string): Promise<string> {
  const workspace = join(dataDirectory, 'slots/slots/slot-1/workspace');
  await mkdir(workspace, { recursive: true });
  await writeFile(join(dataDirectory, 'slots/.flotilla-slots'), other);
  const { image } = await ensureSandboxImage({ docker, report: silentReport });
  const { id } = await docker.createContainer({
    Image: image,
    Labels: { 'flotilla.installation': other },
    HostConfig: { NetworkMode: 'none', Binds: [`${workspace}:/workspace`] },
  });
  return id;
}

test('slots of another installation are taken over with the containers that lie in them, and no other is touched', async () => {
  const [copy, original] = [join(root, 'copy'), join(root, 'original')];
  await makeSlots(copy);
  const untouched = await makeSlots(original);
  await takeOverSlots({ dataDirectory: copy, installation: 'fleet-new', dockerHost, report: silentReport });
  expect(await readFile(join(copy, 'slots/.flotilla-slots'), 'utf8')).toBe('fleet-new');
  expect((await listContainers()).map(({ Id }) => Id)).toEqual([untouched]);
  expect(await readFile(join(original, 'slots/.flotilla-slots'), 'utf8')).toBe(other);
});

test('a directory that leads out of the data directory is not taken over', async () => {
  await makeSlots(join(root, 'elsewhere'));
  await mkdir(join(root, 'data'));
  await symlink(join(root, 'elsewhere/slots'), join(root, 'data/slots'));
  await takeOverSlots({
    dataDirectory: join(root, 'data'),
    installation: 'fleet-new',
    dockerHost,
    report: silentReport,
  });
  expect(await readFile(join(root, 'elsewhere/slots/.flotilla-slots'), 'utf8')).toBe(other);
  expect(await listContainers()).toHaveLength(1);
});
