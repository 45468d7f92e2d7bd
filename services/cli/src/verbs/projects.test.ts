import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calls } from '@flotilla/contracts/call-catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { beforeEach, expect, test } from 'vitest';
import { createFleetUser, type FleetFixture, run } from '../fleet.fixture.ts';
import { fleetsFile, registerFleet } from '../fleet/fleets-file.ts';

let fleet: FleetFixture;
let environment: Record<string, string>;
let directory: string;
beforeEach(async () => {
  const user = await createFleetUser();
  ({ fleet, environment, directory } = user);
  return user.leave;
});

const flotilla = (...argv: string[]) => run(argv, { environment });

test("a remote's token goes into the data directory of the local fleet and never over HTTP", async () => {
  const dataDirectory = join(directory, '.data');
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), {
    url: fleet.url,
    tokenFile: '/x',
    dataDirectory,
    pid: process.pid,
  });
  const { exitCode } = await run(
    [
      'project',
      'add',
      'api',
      '--remote',
      'https://git.example.com:8443/acme/api.git',
      '--token-env',
      'GIT_TOKEN',
      '--no-setup',
    ],
    { environment: { ...environment, GIT_TOKEN: 'hunter2' } },
  );
  expect(exitCode).toBe(0);
  const file = join(dataDirectory, 'credentials', 'api.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    kind: 'token',
    host: 'git.example.com',
    token: 'hunter2',
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(dataDirectory, 'credentials'))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(dataDirectory, 'credentials'))).toEqual(['api.json']);
  expect(fleet.received).toHaveLength(1);
  expect(fleet.received[0]?.request).toMatchObject({ name: 'api', credential: 'api', setup: [] });
  expect(JSON.stringify(fleet.received)).not.toContain('hunter2');
});

test('a token that the remote refuses leaves the credential that was there, and none where there was none', async () => {
  const dataDirectory = join(directory, '.data');
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), {
    url: fleet.url,
    tokenFile: '/x',
    dataDirectory,
    pid: process.pid,
  });
  const add = (secret: string) =>
    run(['project', 'add', 'api', '--remote', 'https://git.example.com/api.git', '--token-env', 'GIT_TOKEN'], {
      environment: { ...environment, GIT_TOKEN: secret },
    });
  const file = join(dataDirectory, 'credentials', 'api.json');
  fleet.answer('addProject', ({ name }) => {
    throw new FlotillaError(errors.remoteCredentialRefused, { remote: String(name), reason: '401' });
  });
  expect(await add('wrong')).toMatchObject({ exitCode: 2, err: expect.stringContaining('REMOTE_CREDENTIAL_REFUSED') });
  expect(existsSync(file)).toBe(false);
  fleet.answer('addProject', () => undefined);
  expect((await add('right')).exitCode).toBe(0);
  fleet.answer('addProject', ({ name }) => {
    throw new FlotillaError(errors.projectExists, { project: name });
  });
  expect((await add('wrong')).exitCode).toBe(4);
  expect(await readFile(file, 'utf8')).toContain('right');
});

test.each(['interrupted', 'CALL_TIMED_OUT'])(
  'an asking that ends without an answer (%s) leaves the credential that was there',
  async (how) => {
    const dataDirectory = join(directory, '.data');
    await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), {
      url: fleet.url,
      tokenFile: '/x',
      dataDirectory,
      pid: process.pid,
    });
    const stop = new AbortController();
    const add = (secret: string) =>
      run(['project', 'add', 'api', '--remote', 'https://git.example.com/api.git', '--token-env', 'GIT_TOKEN'], {
        environment: { ...environment, GIT_TOKEN: secret },
        stop,
      });
    expect((await add('right')).exitCode).toBe(0);
    const file = join(dataDirectory, 'credentials', 'api.json');
    let during = '';
    fleet.answer('addProject', () => {
      during = readFileSync(file, 'utf8');
      if (how === 'interrupted') stop.abort(new Error('interrupted'));
      throw new FlotillaError(errors.callTimedOut, { service: 'router', call: 'addProject', limitMs: 1 });
    });
    expect(await add('wrong')).toMatchObject({
      exitCode: expect.toSatisfy((code) => code !== 0),
      err: expect.stringContaining('the credential that it had is back'),
    });
    expect(during).toContain('wrong');
    expect(await readFile(file, 'utf8')).toContain('right');
    expect(await readdir(join(dataDirectory, 'credentials'))).toEqual(['api.json']);
  },
);

test('a new credential is marked until it is known that its project is there', async () => {
  const dataDirectory = join(directory, '.data');
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), {
    url: fleet.url,
    tokenFile: '/x',
    dataDirectory,
    pid: process.pid,
  });
  const credentials = join(dataDirectory, 'credentials');
  const add = () =>
    run(['project', 'add', 'api', '--remote', 'https://git.example.com/api.git', '--token-env', 'GIT_TOKEN'], {
      environment: { ...environment, GIT_TOKEN: 'hunter2' },
    });
  fleet.answer('addProject', () => {
    throw new FlotillaError(errors.callTimedOut, { service: 'router', call: 'addProject', limitMs: 1 });
  });
  await add();
  expect((await readdir(credentials)).toSorted()).toEqual(['api.json', 'api.json.adding']);
  expect(await readFile(join(credentials, 'api.json.adding'), 'utf8')).toBe(`${process.pid}\n`);
  fleet.answer('addProject', () => undefined);
  await add();
  expect(await readdir(credentials)).toEqual(['api.json']);
});

test('a project that is removed takes the credential along that was written for it, and no other', async () => {
  const dataDirectory = join(directory, '.data');
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), {
    url: fleet.url,
    tokenFile: '/x',
    dataDirectory,
    pid: process.pid,
  });
  const file = join(dataDirectory, 'credentials', 'slugify.json');
  await mkdir(join(dataDirectory, 'credentials'), { recursive: true });
  const remove = async (credential: string, credentialUsed: boolean) => {
    await writeFile(file, '{}', { mode: 0o600 });
    const { response } = calls.removeProject.example;
    fleet.answer('removeProject', () => ({ project: { ...response.project, credential }, credentialUsed }));
    expect((await flotilla('project', 'remove', 'slugify')).exitCode).toBe(0);
    return existsSync(file);
  };
  expect(await remove('shared', false)).toBe(true);
  expect(await remove('slugify', true)).toBe(true);
  expect(await remove('slugify', false)).toBe(false);
});

test('a key of ssh is named by its path, and must be private', async () => {
  const dataDirectory = join(directory, '.data');
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), {
    url: fleet.url,
    tokenFile: '/x',
    dataDirectory,
    pid: process.pid,
  });
  const keyFile = join(directory, 'key');
  await writeFile(keyFile, 'secret', { mode: 0o644 });
  const add = () =>
    run(['project', 'add', 'api', '--remote', 'git@git.example.com:acme/api.git', '--ssh-key', 'key'], {
      environment,
      workingDirectory: directory,
    });
  expect((await add()).err).toContain('chmod 600');
  await writeFile(join(directory, 'other'), 'secret', { mode: 0o600 });
  await rm(keyFile);
  await writeFile(keyFile, 'secret', { mode: 0o600 });
  expect((await add()).exitCode).toBe(0);
  expect(JSON.parse(await readFile(join(dataDirectory, 'credentials', 'api.json'), 'utf8'))).toEqual({
    kind: 'ssh',
    host: 'git.example.com',
    keyFile,
  });
  expect(fleet.received.at(-1)?.request).toMatchObject({
    remote: 'ssh://git@git.example.com/acme/api.git',
    credential: 'api',
  });
});

test('a secret for a fleet on another machine is refused with where to place it', async () => {
  const { exitCode, err } = await run(
    ['project', 'add', 'api', '--remote', 'https://git.example.com/api.git', '--token-env', 'GIT_TOKEN'],
    { environment: { ...environment, GIT_TOKEN: 'hunter2' } },
  );
  expect(exitCode).toBe(2);
  expect(err).toContain('CREDENTIAL_NOT_LOCAL');
  expect(err).toContain('api.json');
  expect(err).not.toContain('hunter2');
  expect(fleet.received).toEqual([]);
});

test('a scheme without its slashes is not taken for a host', async () => {
  await flotilla('project', 'add', 'a', '--remote', 'https:git.example.com/a.git');
  expect(fleet.received[0]?.request).toMatchObject({ remote: 'https:git.example.com/a.git' });
});

test('a path of a remote is told from where the command is run', async () => {
  await run(['project', 'add', 'a', '--remote', './repos/a.git', '--check', 'npm test', '--check', 'npm run lint'], {
    environment,
    workingDirectory: '/home/anna',
  });
  expect(fleet.received[0]?.request).toMatchObject({
    remote: '/home/anna/repos/a.git',
    checks: ['npm test', 'npm run lint'],
  });
  expect(fleet.received[0]?.request).not.toHaveProperty('setup');
});
