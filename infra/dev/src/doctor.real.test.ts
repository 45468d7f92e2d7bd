import { mkdtemp, rm } from 'node:fs/promises';
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
  expect([...failed.keys()]).toEqual([
    'server.nats',
    'docker.engine',
    'docker.image',
    'docker.container',
    'docker.path',
  ]);
  expect(failed.get('server.nats')).toContain('unset it');
});

test.runIf(process.getuid?.() === 0)(
  'a data directory that the Docker engine sees otherwise is found out, and the exit code says so',
  async () => {
    const doctor = fileURLToPath(new URL('doctor.ts', import.meta.url));
    const hidden = `mount -t tmpfs tmpfs "$0" && exec "$@"`;
    const command = [process.execPath, '--conditions=@flotilla/source', doctor, '--json', '--data', dataDirectory];
    const { code, stdout } = await runCommand('unshare', ['--mount', 'sh', '-c', hidden, dataDirectory, ...command]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false });
    const checks = JSON.parse(stdout).checks as readonly {
      readonly id: string;
      readonly ok: boolean;
      readonly fix?: string;
    }[];
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      { id: 'docker.path', fix: expect.stringContaining('same path') },
    ]);
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
