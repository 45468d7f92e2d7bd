import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callCatalogue, calls } from '@flotilla/contracts/call-catalogue';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { beforeEach, expect, test } from 'vitest';
import { createFleetFixture, run, token } from './fleet.fixture.ts';
import { fleetsFile, readFleets, registerFleet, unregisterFleet } from './fleet/fleets-file.ts';
import { verbs } from './verbs.ts';

let fleet: Awaited<ReturnType<typeof createFleetFixture>>;
let environment: Record<string, string>;
let directory: string;
beforeEach(async () => {
  fleet = await createFleetFixture();
  directory = await mkdtemp(join(tmpdir(), 'flotilla-cli-'));
  environment = { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token, XDG_CONFIG_HOME: directory };
  return async () => {
    fleet.close();
    await rm(directory, { recursive: true });
  };
});

const flotilla = (...argv: string[]) => run(argv, { environment });
const runId = 'run_01j9z3k8m2n4p6q8r0s2t4v6w8';
const gateId = 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8';

test.each(verbs.map((verb) => [verb.name, verb] as const))(
  '%s has help with examples and exit codes',
  async (name, verb) => {
    const { exitCode, out } = await flotilla(...name.split(' '), '--help');
    expect(exitCode).toBe(0);
    expect(out).toContain('Exit codes:');
    expect(verb.examples.length).toBeGreaterThan(0);
    for (const { command } of verb.examples) expect(out).toContain(command);
  },
);

test('every call that names a verb is made by that verb', () => {
  for (const { name, cli } of callCatalogue) {
    if (cli === undefined) continue;
    const verb = verbs.find((each) => each.name === cli.verb);
    expect([name, verb?.calls]).toEqual([name, expect.arrayContaining([name])]);
  }
});

const withArguments: Readonly<Record<string, readonly string[]>> = {
  'project add': ['slugify', '--remote', '/srv/slugify.git'],
  'project show': ['slugify'],
  'project remove': ['slugify'],
  submit: ['Make slugify keep digits.', '--project', 'slugify'],
  show: [runId],
  diff: [runId],
  output: [runId],
  events: [runId],
  approve: [runId],
  'request-changes': [runId, 'Keep the name.'],
  decline: [runId],
  cancel: [runId],
  retry: [runId],
  'dead show': ['7'],
  'dead replay': ['7'],
};
const plain = verbs.filter(({ name }) => name !== 'watch' && name !== 'doctor');

test.each(plain.map(({ name }) => name))('%s prints one JSON document with --json', async (name) => {
  const { exitCode, out, err } = await flotilla(...name.split(' '), ...(withArguments[name] ?? []), '--json');
  expect([exitCode, err]).toEqual([0, '']);
  expect(JSON.parse(out)).toBeTypeOf('object');
});

test.each(plain.map(({ name }) => name))('%s prints text for a person without it', async (name) => {
  const { exitCode, out } = await flotilla(...name.split(' '), ...(withArguments[name] ?? []));
  expect(exitCode).toBe(0);
  expect(out.trim()).not.toBe('');
  expect(out).not.toContain('undefined');
  expect(() => JSON.parse(out) as unknown).toThrow();
});

test('submit prints the id of the run alone, for a script', async () => {
  expect((await flotilla('submit', '-p', 'slugify', 'Keep digits.')).out).toBe(`${runId}\n`);
  expect(fleet.received[0]?.request).toEqual({ goal: 'Keep digits.', project: 'slugify' });
});

test.each<[readonly string[], number, string]>([
  [['nonsense'], 2, 'unknown command'],
  [['submit'], 2, "missing required argument 'goal'"],
  [['submit', 'x'], 2, '--project'],
  [['show', 'run_1'], 2, 'a run id looks like'],
  [['list', '--limit', 'many'], 2, 'a whole number'],
  [['list', '--nonsense'], 2, 'unknown option'],
  [['--help'], 0, ''],
  [['--version'], 0, ''],
])('%j ends with %d', async (argv, code, said) => {
  const { exitCode, err } = await flotilla(...argv);
  expect(exitCode).toBe(code);
  expect(err).toContain(said);
});

test.each([
  ['nope'],
  ['submit'],
  ['list', '--nonsense'],
  ['project'],
  ['project', 'add', 'a', '--remote', '/a', '--unchecked', '--check', 'x'],
  ['show', 'run_1'],
  ['list', '-n', '501'],
])('a fault of the command line is one JSON document with --json: %s', async (...argv) => {
  const { exitCode, out, err } = await flotilla(...argv, '--json');
  expect([exitCode, out]).toEqual([2, '']);
  const told = JSON.parse(err) as { code: string; message: string; advice: string };
  expect(told).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), advice: expect.stringMatching(/\.$/) });
  expect(told.message).not.toBe('');
  expect(`${told.message} ${told.advice}`).not.toMatch(/\n| {2}/);
});

test.each(['0', '501', '1.5', 'many', ''])('a limit of %j is refused with the range', async (limit) => {
  for (const verb of ['list', 'gates', `events ${runId}`, `output ${runId}`, 'dead list', 'project list']) {
    const { exitCode, err } = await flotilla(...verb.split(' '), '-n', limit);
    expect([exitCode, err]).toEqual([2, expect.stringContaining('a whole number from 1 to 500')]);
  }
  expect((await flotilla('list', '--help')).out).toMatch(/1 to\s+500/);
});

test.each(['a\nb', 'a b', 'é'])('a token that no header can carry is a fault of whoever gave it: %j', async (bad) => {
  const { exitCode, err } = await run(['list'], { environment: { ...environment, FLOTILLA_TOKEN: bad } });
  expect([exitCode, err]).toEqual([2, expect.stringContaining('FLOTILLA_TOKEN holds')]);
});

test('no hint has a gap in it', async () => {
  const { exitCode, err } = await run(['list', '--url', 'ftp://x'], { environment });
  expect([exitCode, err]).toEqual([2, expect.stringContaining('ftp://x is not an http')]);
  expect(err.replace(/^ {2}/gm, '')).not.toContain('  ');
});

test.runIf(existsSync('/dev/full'))('output that cannot be written is an error with a code, not a crash', () => {
  const full = openSync('/dev/full', 'w');
  const cli = fileURLToPath(new URL('cli.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ['--conditions=@flotilla/source', cli, '--help'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^error OUTPUT_FAILED: .*ENOSPC.*\n {2}.*\n$/);
});

test.each([
  [errors.runUnknown, 3],
  [errors.roleMissing, 4],
  [errors.gateDecided, 4],
  [errors.requestInvalid, 2],
  [errors.storeUnavailable, 5],
  [errors.gatewayFailed, 1],
] as const)('an error of the fleet is told with its advice, and %o ends with %d', async (definition, code) => {
  fleet.answer('showRun', () => {
    throw new FlotillaError(definition, { runId });
  });
  const { exitCode, err } = await flotilla('show', runId);
  expect(exitCode).toBe(code);
  expect(err).toContain(definition.code);
  expect(err.split('\n')[1]?.trim()).not.toBe('');
  expect(JSON.parse((await flotilla('show', runId, '--json')).err)).toMatchObject({ code: definition.code });
});

test('a wrong token is a refusal, no fleet is unreachable, something else is not a fleet', async () => {
  expect((await run(['list'], { environment: { ...environment, FLOTILLA_TOKEN: 'x' } })).exitCode).toBe(4);
  expect((await run(['list'], { environment: { ...environment, FLOTILLA_URL: 'http://127.0.0.1:1' } })).exitCode).toBe(
    5,
  );
  fleet.answer('listRuns', () => ({ nonsense: true }));
  expect((await flotilla('list')).err).toContain('FLEET_ANSWER_UNREADABLE');
});

test('what came from a repository or a model cannot act on the terminal', async () => {
  const evil = '\u001b[2J\u202egoal\u0007\rx';
  fleet.answer('listRuns', () => ({ runs: [{ ...calls.listRuns.example.response.runs[0], goal: evil }] }));
  fleet.answer('showDiff', () => ({ ...calls.showDiff.example.response, diff: `+${evil}\n` }));
  fleet.answer('showOutput', () => ({
    outputs: [{ ...calls.showOutput.example.response.outputs[0], command: evil, output: evil }],
  }));
  fleet.answer('listEvents', () => ({
    entries: [{ ...calls.listEvents.example.response.entries[0], payload: { text: evil } }],
  }));
  fleet.answer('showDead', () => ({ ...calls.showDead.example.response, headers: { x: evil } }));
  for (const argv of [['list'], ['diff', runId], ['output', runId], ['events', runId], ['dead', 'show', '7']]) {
    const { out } = await flotilla(...argv);
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(out).toMatch(/\\u\{1b\}|\\u001b/);
  }
});

test('an empty dead letter and one too large to keep are told apart', async () => {
  const { response } = calls.showDead.example;
  fleet.answer('showDead', () => ({ ...response, payload: '', payloadBytes: 0 }));
  expect((await flotilla('dead', 'show', '7')).out).toContain('the message is empty');
  fleet.answer('showDead', () => ({ ...response, payload: '{"goal', payloadBytes: 300_000, truncated: true }));
  expect((await flotilla('dead', 'show', '7')).out).toMatch(/300000 bytes[^]*\{\\"goal/);
});

test('a diff for git apply is byte for byte', async () => {
  const { out } = await flotilla('diff', runId, '--raw');
  expect(out).toBe(calls.showDiff.example.response.diff);
});

const commit = 'c'.repeat(40);

test.each([
  ['approve', [runId], 'approve', undefined],
  ['approve', [gateId, '-m', 'Good.'], 'approve', 'Good.'],
  ['approve', ['latest', '--commit', 'ccccccc'], 'approve', undefined],
  ['request-changes', [runId, 'Keep the name.'], 'request_changes', 'Keep the name.'],
  ['decline', [runId], 'decline', undefined],
])('%s %j decides on the commit of the open gate and shows its files', async (verb, argv, decision, comment) => {
  const { exitCode, err } = await flotilla(verb, ...argv);
  expect(exitCode).toBe(0);
  expect(err).toContain('slugify.js');
  expect(fleet.received.at(-1)).toMatchObject({ call: 'decideGate', request: { gateId, decision, commit } });
  expect(fleet.received.at(-1)?.request['comment']).toBe(comment);
});

test('an approval of another commit than the one that is asked about is not sent', async () => {
  const { exitCode, err } = await flotilla('approve', runId, '--commit', 'abcdef0');
  expect([exitCode, err]).toEqual([4, expect.stringContaining('COMMIT_DIFFERS')]);
  expect(fleet.received.map(({ call }) => call)).not.toContain('decideGate');
});

test('a run without an open gate has nothing to approve', async () => {
  fleet.answer('showRun', () => ({ ...calls.showRun.example.response, gate: undefined }));
  expect((await flotilla('approve', runId)).exitCode).toBe(4);
});

test('the fleet of this machine is found from any folder, and gone once its process is', async () => {
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, `${token}\n`);
  const file = fleetsFile({ XDG_CONFIG_HOME: directory });
  const local = {
    url: fleet.url,
    tokenFile,
    dataDirectory: join(directory, 'clone', '.data', 'fleet'),
    pid: process.pid,
  };
  await registerFleet(file, local);
  const here = { environment: { XDG_CONFIG_HOME: directory } };
  expect((await run(['list'], here)).exitCode).toBe(0);

  await registerFleet(file, { ...local, url: 'http://127.0.0.1:1', dataDirectory: '/elsewhere/.data' });
  expect((await run(['list'], here)).err).toContain('FLEETS_SEVERAL');
  expect((await run(['list'], { ...here, workingDirectory: join(directory, 'clone', 'src') })).exitCode).toBe(0);
  expect((await run(['list', '--url', fleet.url], here)).exitCode).toBe(0);

  await unregisterFleet(file, { pid: process.pid, url: 'http://127.0.0.1:1' });
  expect(await readFleets(file)).toEqual([local]);
  await registerFleet(file, { ...local, pid: 2 ** 22 + 1 });
  expect((await run(['list'], here)).err).toContain('FLEET_NOT_FOUND');
});

test.each([
  ['approve', runId],
  ['decline', runId],
  ['request-changes', runId, 'No.'],
  ['cancel', runId],
  ['retry', runId],
])('%s says which fleet it spoke to', async (...argv) => {
  expect((await flotilla(...argv)).err).toContain(`fleet ${fleet.url}\n`);
});

test('in a clone whose fleet is dead the fleet of another clone is not used', async () => {
  const clone = join(directory, 'clone');
  await mkdir(join(clone, 'services', 'cli'), { recursive: true });
  await writeFile(join(clone, 'package.json'), '{"name": "flotilla"}');
  await writeFile(join(clone, 'services', 'cli', 'package.json'), '{}');
  const tokenFile = join(directory, 'token');
  await writeFile(tokenFile, token);
  const other = { url: fleet.url, tokenFile, dataDirectory: '/other/.data/fleet', pid: process.pid };
  await registerFleet(fleetsFile({ XDG_CONFIG_HOME: directory }), other);
  const inClone = { environment: { XDG_CONFIG_HOME: directory }, workingDirectory: join(clone, 'services') };
  const { exitCode, err } = await run(['approve', runId], inClone);
  expect([exitCode, err]).toEqual([5, expect.stringContaining('FLEET_ELSEWHERE')]);
  expect(err).toContain(fleet.url);
  expect(fleet.received).toEqual([]);
  expect((await run(['list', '--url', fleet.url], inClone)).exitCode).toBe(0);
});

test('fleets that start at once do not lose one another', async () => {
  const file = join(directory, 'flotilla', 'fleets.json');
  const all = Array.from({ length: 12 }, (_, index) => ({
    url: `http://127.0.0.1:${index + 1}`,
    tokenFile: '/x',
    dataDirectory: `/clone-${index}/.data`,
    pid: process.pid,
  }));
  await Promise.all(all.map((each) => registerFleet(file, each)));
  expect(new Set((await readFleets(file)).map(({ url }) => url)).size).toBe(12);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

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

test.each([
  ['--unchecked', '--check', ['--unchecked', '--check', 'npm test']],
  ['--setup', '--no-setup', ['--setup', 'make', '--no-setup']],
  ['--no-setup', '--setup', ['--no-setup', '--setup', 'make']],
  ['--token-file', '--token-env', ['--token-env', 'A', '--token-file', 'b']],
  ['--credential', '--ssh-key', ['--credential', 'a', '--ssh-key', 'b']],
])('%s with %s is refused in any order, naming both, and nothing is sent', async (one, other, options) => {
  const { exitCode, err } = await flotilla('project', 'add', 'a', '--remote', '/srv/a.git', ...options);
  expect(exitCode).toBe(2);
  expect(err).toContain(`${one} `);
  expect(err).toContain(`${other} `);
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
