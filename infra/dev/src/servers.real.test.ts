import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { errors } from '@flotilla/errors/catalogue';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentReport } from './report.ts';
import { bringUpServers } from './servers.ts';
import type { BringUpOptions, Servers } from './servers.ts';
import { keepPasswords } from './servers/passwords.ts';
import { findEmbeddedPostgres } from './servers/programs.ts';
import { probeServer } from './servers/probe.ts';
import { runPostgres } from './servers/run-postgres.ts';
import { readRunning } from './servers/running.ts';

let root = '';
const running: Servers[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'flotilla-servers-'));
});
afterEach(async () => {
  for (const servers of running.splice(0)) await servers.stop();
  await rm(root, { recursive: true, force: true });
});

const { NATS_URL: _nats, REDIS_URL: _redis, DATABASE_URL: _database, ...environment } = process.env;

async function bringUp(name: string, options: Partial<BringUpOptions> = {}): Promise<Servers> {
  const servers = await bringUpServers({
    dataDirectory: join(root, name),
    report: silentReport,
    environment,
    ...options,
  });
  running.push(servers);
  return servers;
}

/** Pids of this machine that work in a directory below `directory`. */
async function findProcesses(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const cwds = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_, index) => cwds[index]?.startsWith(directory)).map(Number);
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function withRedis<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

test('all three answer at their URLs, what is written survives a restart at the same addresses, and nothing is left running', async () => {
  const first = await bringUp('clone');
  await query(first.postgres.url, 'create table kept as select 42 as answer');
  await withRedis(first.redis.url, (redis) => redis.set('kept', '42'));
  expect(await findProcesses(root)).not.toEqual([]);
  await first.stop();
  expect(await findProcesses(root)).toEqual([]);

  const second = await bringUp('clone');
  expect(await query(second.postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  expect(await withRedis(second.redis.url, (redis) => redis.get('kept'))).toBe('42');
  expect([second.nats.url, second.redis.url, second.postgres.url]).toEqual([
    first.nats.url,
    first.redis.url,
    first.postgres.url,
  ]);
  expect(await probeServer('nats', second.nats.url)).toMatchObject({ kind: 'answers' });
});

test('two clones run at once, and one clone only once', async () => {
  const [one, two] = await Promise.all([bringUp('one'), bringUp('two')]);
  expect(new Set([one, two].flatMap(({ nats, redis, postgres }) => [nats.url, redis.url, postgres.url])).size).toBe(6);
  await expect(bringUp('one')).rejects.toMatchObject({
    code: errors.alreadyRunning.code,
    message: expect.stringContaining(String(process.pid)),
  });
  expect(await readRunning('nats', join(root, 'one'))).toMatchObject({ port: Number(new URL(one.nats.url).port) });
});

test('nobody gets in without the password, and the password is readable for its owner alone', async () => {
  const { nats, redis, postgres } = await bringUp('clone');
  for (const [server, url] of Object.entries({ nats: nats.url, redis: redis.url, postgres: postgres.url })) {
    const stranger = new URL(url);
    stranger.password = 'guess';
    expect(await probeServer(server as 'nats', stranger.href)).toMatchObject({ kind: 'silent' });
  }
  const files = ['servers.json', 'nats/nats.conf', 'redis/redis.conf'].map((name) => join(root, 'clone', name));
  for (const file of files) expect((await stat(file)).mode & 0o077).toBe(0);
  const commandLines = await Promise.all(
    (await findProcesses(root)).map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')),
  );
  const { redis: secret } = await keepPasswords(join(root, 'clone'));
  expect(commandLines.join()).not.toContain(secret);
});

test('servers end with a parent that is killed, and the next start waits for them and finds its data', async () => {
  const dataDirectory = join(root, 'clone');
  const module = fileURLToPath(new URL('servers.ts', import.meta.url));
  const report = fileURLToPath(new URL('report.ts', import.meta.url));
  const script = `const { bringUpServers } = await import(${JSON.stringify(module)}); const { silentReport } = await import(${JSON.stringify(report)});
    const { postgres } = await bringUpServers({ dataDirectory: ${JSON.stringify(dataDirectory)}, report: silentReport, environment: process.env });
    console.log(postgres.url); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--conditions=@flotilla/source', '--input-type=module', '-e', script], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(createInterface({ input: parent.stdout }), 'line');
  await query(String(url), 'create table kept as select 42 as answer');
  parent.kill('SIGKILL');
  await expect.poll(() => findProcesses(root), { timeout: 10_000 }).toEqual([]);

  const { postgres } = await bringUp('clone');
  expect(await query(postgres.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

test('a server that dies is started again at its address with its data, and is gone for good once it is stopped', async () => {
  const servers = await bringUp('clone');
  await query(servers.postgres.url, 'create table kept (n int); insert into kept values (42)');
  for (const name of ['nats', 'redis', 'postgres'] as const) {
    const pidFile = join(root, 'clone', `${name}.pid`);
    const pid = Number(await readFile(pidFile, 'utf8'));
    process.kill(pid, 'SIGKILL');
    await waitFor(`${name} is back`, async () => {
      const now = Number(await readFile(pidFile, 'utf8'));
      return now !== pid && (await probeServer(name, servers[name].url)).kind === 'answers';
    });
  }
  expect(await query(servers.postgres.url, 'select n from kept')).toEqual([{ n: 42 }]);

  process.kill(Number(await readFile(join(root, 'clone', 'redis.pid'), 'utf8')), 'SIGKILL');
  await servers.stop();
  expect(await findProcesses(join(root, 'clone'))).toEqual([]);
});

async function waitFor(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let left = 600; !(await holds()); left--) {
    if (left === 0) throw new Error(`not within 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a URL in the environment is used and left running, and one that does not answer is an error', async () => {
  const own = await bringUp('own');
  const borrowed = await bringUp('borrower', { environment: { ...environment, REDIS_URL: own.redis.url } });
  expect(borrowed.redis).toMatchObject({ url: own.redis.url, how: 'environment' });
  await borrowed.stop();
  expect(await probeServer('redis', own.redis.url)).toMatchObject({ kind: 'answers' });

  await own.stop();
  const late = bringUp('late', { environment: { ...environment, REDIS_URL: own.redis.url } });
  await expect(late).rejects.toMatchObject({
    code: errors.serverSilent.code,
    message: expect.stringContaining('REDIS_URL is set'),
  });
  expect(await findProcesses(root)).toEqual([]);
});

test('data that was restored without its passwords is told at once, with what to put back', async () => {
  await (await bringUp('restored')).stop();
  const file = join(root, 'restored', 'servers.json');
  await rename(file, `${file}.aside`);
  await expect(bringUp('restored')).rejects.toMatchObject({
    code: errors.serverPasswordForeign.code,
    advice: expect.stringContaining(file),
  });
  expect(await findProcesses(join(root, 'restored'))).toEqual([]);
  await rename(`${file}.aside`, file);
  await bringUp('restored');
}, 50_000);

test('users and permissions that are handed over replace the single user of NATS', async () => {
  const natsAuthorization = `authorization { users = [ { user: worker, password: "p1", permissions: { publish: ["work.>"], subscribe: ["_INBOX.>"] } } ] }`;
  const { nats } = await bringUp('clone', { natsAuthorization });
  await expect(connect({ servers: nats.url })).rejects.toThrow();
  const connection = await connect({ servers: nats.url, user: 'worker', pass: 'p1' });
  await expect(connection.request('other', '')).rejects.toThrow(/permission/i);
  await connection.close();
});

test('Postgres of the npm package serves too, in a directory that only root may enter', async () => {
  const program = await findEmbeddedPostgres();
  if (program === undefined) throw new Error('the package has no Postgres for this platform');
  const dataDirectory = join(root, 'closed', 'clone');
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const started = await runPostgres({
    program,
    dataDirectory,
    passwords: await keepPasswords(dataDirectory),
    report: silentReport,
  });
  expect(await query(started.url, 'show server_version')).toEqual([{ server_version: program.version }]);
  await started.stop();
  expect(await findProcesses(root)).toEqual([]);
});
