import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Dockerode from 'dockerode';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runDoctor } from './doctor.ts';
import { silentReport } from './report.ts';
import { runCommand } from './run-command.ts';
import { ensureSandboxImage } from './sandbox-image.ts';
import { bringUpServers } from './servers.ts';

const { NATS_URL: _nats, REDIS_URL: _redis, DATABASE_URL: _database, ...withoutUrls } = process.env;

let dataDirectory = '';
beforeAll(async () => {
  await ensureSandboxImage({ docker: new Dockerode(), report: silentReport });
}, 600_000);
beforeEach(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'flotilla-doctor-'));
});
afterEach(() => rm(dataDirectory, { recursive: true, force: true }));

interface Checked {
  readonly id: string;
  readonly ok: boolean;
  readonly note?: boolean;
  readonly fix?: string;
}

/** Runs the doctor where `script` has changed the mounts, which nobody else sees. */
async function runDoctorWhere(script: string): Promise<{ readonly code: number; readonly checks: readonly Checked[] }> {
  const doctor = fileURLToPath(new URL('doctor.ts', import.meta.url));
  const command = [process.execPath, '--conditions=@flotilla/source', doctor, '--json', '--data', dataDirectory];
  const isolated = ['--mount', 'sh', '-c', `${script} && exec "$@"`, dataDirectory, ...command];
  const { DOCKER_HOST: _, ...environment } = withoutUrls;
  const { code, stdout, stderr } = await runCommand('unshare', isolated, { environment });
  expect(stderr).not.toContain('mount:');
  return { code, checks: JSON.parse(stdout).checks as readonly Checked[] };
}

test('on a machine that has everything all checks pass', async () => {
  const results = await runDoctor({ environment: process.env, dataDirectory });
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  expect(results.map(({ id }) => id)).toContain('docker.path');
});

test('an address that does not answer fails with what to do', async () => {
  const results = await runDoctor({
    environment: { ...process.env, NATS_URL: 'nats://127.0.0.1:1', DOCKER_HOST: 'tcp://127.0.0.1:1' },
    dataDirectory,
  });
  const failed = new Map(results.filter(({ ok }) => !ok).map(({ id, fix }) => [id, fix]));
  expect([...failed.keys()]).toEqual(['server.nats', 'docker.engine']);
  expect(failed.get('server.nats')).toContain('unset it');
});

test.runIf(process.getuid?.() === 0)(
  'a data directory that the Docker engine sees otherwise is found out, and the exit code says so',
  async () => {
    const { code, checks } = await runDoctorWhere('mount -t tmpfs tmpfs "$0"');
    expect(code).toBe(1);
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      { id: 'docker.path', fix: expect.stringContaining('same path') },
    ]);
  },
);

test.runIf(process.getuid?.() === 0)(
  'what the next start installs, starts or builds is told as that, and needs nothing of anybody',
  async () => {
    const programs = ['/usr/sbin/dockerd', '/usr/sbin/nats-server', '/usr/bin/redis-server'];
    const hide = programs.map((path) => `{ test ! -e ${path} || mount --bind /dev/null ${path}; }`).join(' && ');
    const { code, checks } = await runDoctorWhere(`mount -t tmpfs tmpfs /run && ${hide}`);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(code).toBe(0);
    const notes = new Map(checks.flatMap(({ id, note, fix }) => (note === true ? [[id, fix]] : [])));
    expect([...notes.keys()]).toEqual([
      'server.nats',
      'server.redis',
      'docker.engine',
      'docker.image',
      'docker.container',
      'docker.path',
      'model',
    ]);
    for (const id of ['server.nats', 'server.redis', 'docker.engine'])
      expect(notes.get(id)).toMatch(/will be installed with apt by "npm start", as root/);
  },
);

test('servers that run are told as running, and one of them that is dead is a failure', async () => {
  const servers = await bringUpServers({ dataDirectory, report: silentReport, environment: withoutUrls });
  const detailOf = async () => {
    const results = await runDoctor({ environment: withoutUrls, dataDirectory });
    return new Map(results.map(({ id, ok, detail }) => [id, `${ok} ${detail}`]));
  };
  try {
    const alive = await detailOf();
    for (const id of ['server.nats', 'server.redis', 'server.postgres'])
      expect(alive.get(id)).toMatch(/^true .* runs on port/);
    await servers.redis.stop();
    expect((await detailOf()).get('server.redis')).toMatch(/^false does not answer/);
  } finally {
    await servers.stop();
  }
});

test('servers that a running fleet was given by address are no failure in a shell without the addresses', async () => {
  const own = await mkdtemp(join(tmpdir(), 'flotilla-doctor-own-'));
  const servers = await bringUpServers({ dataDirectory: own, report: silentReport, environment: withoutUrls });
  try {
    const given = { NATS_URL: servers.nats.url, REDIS_URL: servers.redis.url, DATABASE_URL: servers.postgres.url };
    for (const server of ['nats', 'redis', 'postgres']) await writeFile(join(dataDirectory, `${server}.port`), '1');
    const environment = { ...withoutUrls, ...given };
    const fleet = await bringUpServers({ dataDirectory, report: silentReport, environment });
    const results = await runDoctor({ environment: withoutUrls, dataDirectory });
    await fleet.stop();
    const found = results.filter(({ id }) => id.startsWith('server.'));
    expect(found).toHaveLength(3);
    for (const { ok, detail } of found) expect(`${ok} ${detail}`).toMatch(/^true given to the running fleet/);
  } finally {
    await servers.stop();
    await rm(own, { recursive: true, force: true });
  }
});

test('the image that is looked for is the one that the operator named, and without it nobody builds one', async () => {
  const environment = { ...process.env, FLOTILLA_SANDBOX_IMAGE: 'example/none:1' };
  const results = await runDoctor({ environment, dataDirectory });
  const found = new Map(results.map((result) => [result.id, result]));
  expect(found.get('docker.image')).toMatchObject({ ok: false, detail: expect.stringContaining('example/none:1') });
  expect(found.get('docker.image')?.fix).toContain('unset FLOTILLA_SANDBOX_IMAGE');
  expect(found.get('docker.container')).toMatchObject({ ok: true, note: true });
});
