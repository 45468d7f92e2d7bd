import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@flotilla/contracts/ids';
import { backUp, restore } from '@flotilla/dev/backup/back-up';
import { findCommand } from '@flotilla/dev/find-command';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { fault, type Script } from '@flotilla/testing/scripted-model/script';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOwnServers, type OwnServers } from '../harness/own-servers.ts';
import { makeSmallRemote } from '../harness/small-remote.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from '../harness/test-fleet.ts';
import { waitUntil } from '../harness/wait-until.ts';

const names = ['gate', 'build', 'kept'] as const;
const files = {
  ...Object.fromEntries(names.map((name) => [`${name}.js`, 'exports.value = 0;\n'])),
  'test.js': names.map((name) => `require('./${name}');\n`).join(''),
};
const engineer = engineerScript({
  edits: [],
  tasks: names.map((name) => ({
    goalIncludes: `Set ${name}.`,
    edits: [{ path: `${name}.js`, find: 'value = 0', replace: 'value = 1' }],
  })),
});
let silent = false;
/** Falls silent in the middle of a build whose edit has been made, once. */
const script: Script = (conversation, asked) => {
  const edited = conversation.calls.some(({ tool }) => tool === 'fs.edit');
  const now = conversation.role === 'executor' && edited && JSON.stringify(conversation).includes('Set build.');
  if (!now || silent || asked > 1) return engineer(conversation, asked);
  silent = true;
  return fault('cut');
};

let directory: string;
let remote: string;
let servers: OwnServers;
let fleet: TestFleet;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-lost-'));
  remote = await makeSmallRemote(directory, 'lib', files);
  servers = await startOwnServers(join(directory, 'servers'));
  fleet = await startTestFleet({ script, servers: servers.addresses });
  await fleet.addProject('lib', remote);
});

afterAll(async () => {
  await fleet?.close();
  await servers?.stop();
  await rm(directory, { recursive: true, force: true });
});

const submit = (name: string): Promise<RunId> => fleet.submit('lib', `Set ${name}.`);
const resultOf = async (run: RunId): Promise<string> => {
  const log = await fleet.finish(run);
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
  return `${payloadOf<{ result: string }>(log, 'run.ended').result} ${describeEntries(log).match(/[A-Z]+_[A-Z_]+/)?.[0] ?? ''}`.trim();
};

/** The broker dies and comes back with an empty disk. */
async function loseBroker(): Promise<void> {
  const data = join(directory, 'servers');
  const pid = Number(await readFile(join(data, 'nats.pid'), 'utf8'));
  await rename(join(data, 'nats/store'), join(data, `lost-${pid}`));
  process.kill(pid, 'SIGKILL');
  await waitUntil('the broker is back', async () => Number(await readFile(join(data, 'nats.pid'), 'utf8')) !== pid);
  expect(existsSync(join(data, `lost-${pid}/jetstream`))).toBe(true);
}

test('runs at a gate and in the middle of a build land after the broker lost its disk, and nothing is started again by hand', async () => {
  const [gate, build] = [await submit('gate'), await submit('build')];
  await fleet.until(gate, 'gate.opened');
  await waitUntil('a build is under way', () => silent);
  await loseBroker();
  expect(await Promise.all([resultOf(gate), resultOf(build)])).toEqual(['landed', 'landed']);
  expect(await scratchGit(remote, ['rev-list', '--count', 'main'])).not.toBe('1');
});

test('a run at its gate is approved and lands in a fleet that was restored from a backup into empty servers', async (context) => {
  if ((await findCommand('pg_dump', process.env)) === undefined) return context.skip();
  const run = await submit('kept');
  await fleet.until(run, 'gate.opened');
  const backup = join(directory, 'backup');
  const options = { directory: backup, environment: process.env };
  const { DATABASE_URL: databaseUrl, NATS_URL: natsUrl } = servers.addresses;
  const saved = await backUp({ ...options, databaseUrl, natsUrl });
  expect(saved.objects).toBeGreaterThan(0);
  await fleet.close();
  await servers.stop();

  servers = await startOwnServers(join(directory, 'other-servers'));
  const { DATABASE_URL, NATS_URL } = servers.addresses;
  expect(await restore({ ...options, databaseUrl: DATABASE_URL, natsUrl: NATS_URL })).toEqual(saved);
  fleet = await startTestFleet({ script: engineer, servers: servers.addresses });
  expect(await resultOf(run)).toBe('landed');
  await expect(restore({ ...options, databaseUrl: DATABASE_URL, natsUrl: NATS_URL })).rejects.toMatchObject({
    code: 'BACKUP_FAILED',
    message: expect.stringContaining('already exists'),
  });
});
