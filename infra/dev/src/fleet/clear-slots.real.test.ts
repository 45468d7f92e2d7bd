import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identifyProcess } from '@flotilla/sandbox/process-identity';
import Dockerode from 'dockerode';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createReport, silentReport, type ReportEvent } from '../report.ts';
import { ensureSandboxImage } from '../sandbox-image.ts';
import { clearSlots } from './clear-slots.ts';

const docker = new Dockerode();
const dockerHost = process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
let root = '';
let installation = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flotilla-clear-'));
  installation = `fleet-${root.slice(-6).toLowerCase()}`;
});
afterEach(async () => {
  for (const { Id } of await listContainers()) await docker.getContainer(Id).remove({ force: true });
  await rm(root, { recursive: true, force: true });
});

const listContainers = () =>
  docker.listContainers({ all: true, filters: { label: [`flotilla.installation=${installation}`] } });
const namesOfContainers = async () => (await listContainers()).map(({ Labels }) => Labels['flotilla.slot']).toSorted();

/** A slot as a service makes it: its record, and a container on its workspace. */
async function makeSlot(dataDirectory: string, name: string, owner: string): Promise<void> {
  const workspace = join(dataDirectory, 'slots/slots', name, 'workspace');
  await mkdir(workspace, { recursive: true });
  await writeFile(join(dataDirectory, 'slots/.flotilla-slots'), installation);
  await writeFile(join(workspace, '../slot.json'), JSON.stringify({ owner }));
  await mkdir(join(dataDirectory, 'slots/owners'), { recursive: true });
  await writeFile(join(dataDirectory, 'slots/owners', owner), '1');
  const { image } = await ensureSandboxImage({ docker, report: silentReport });
  await docker.createContainer({
    Image: image,
    Labels: { 'flotilla.installation': installation, 'flotilla.slot': name, 'flotilla.owner': owner },
    HostConfig: { NetworkMode: 'none', Binds: [`${workspace}:/workspace`] },
  });
}

async function ownerThatEnded(): Promise<string> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const owner = `pool-1.${await identifyProcess(child.pid!)}`;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  return owner;
}

test('the slots of services that were killed a moment ago are removed, and those of one that runs and of a copy are not', async () => {
  const [data, copy] = [join(root, 'data'), join(root, 'copy')];
  const ended = await ownerThatEnded();
  await makeSlot(data, 'slot-ended', ended);
  await makeSlot(data, 'slot-running', `pool-2.${await identifyProcess(process.pid)}`);
  await makeSlot(copy, 'slot-copied', ended);
  const said: ReportEvent[] = [];
  const report = createReport((event) => said.push(event));
  await clearSlots({ dataDirectory: data, installation, dockerHost, report });
  expect(await readdir(join(data, 'slots/slots'))).toEqual(['slot-running']);
  expect(await readdir(join(copy, 'slots/slots'))).toEqual(['slot-copied']);
  expect(await namesOfContainers()).toEqual(['slot-copied', 'slot-running']);
  expect(said.map(({ text }) => text)).toEqual(['1 left by services that were killed, removed']);
});

test('an engine that does not answer, and a fleet that never made a slot, keep nobody from stopping', async () => {
  const said: ReportEvent[] = [];
  const report = createReport((event) => said.push(event));
  const nowhere = `unix://${join(root, 'docker.sock')}`;
  await clearSlots({ dataDirectory: join(root, 'none'), installation, dockerHost: nowhere, report });
  expect(said).toEqual([]);
  await makeSlot(join(root, 'data'), 'slot-ended', await ownerThatEnded());
  await clearSlots({ dataDirectory: join(root, 'data'), installation, dockerHost: nowhere, report });
  expect(said.map(({ kind }) => kind)).toEqual(['warned']);
});
