import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { detectSetup } from './detect-setup.ts';
import type { DoorGrant, DoorRequest } from './door.ts';
import { registryEnvironment } from './registry-environment.ts';
import type { PoolFixture } from './sandbox.fixture.ts';
import { claim, makeTemporaryDirectory, newId, now, openPool } from './sandbox.fixture.ts';
import { setupKey } from './setup-key.ts';
import type { SetupRequest, SetupStore } from './setup-store.ts';
import { createSetupStore } from './setup-store.ts';
import type { Slot } from './slot.ts';

const npm = (...argv: string[]) => execFileSync('npm', argv, { encoding: 'utf8' }).trim();

let fixture: PoolFixture;
let registry: ReturnType<typeof registryEnvironment>;
let project: Readonly<Record<string, string>>;
let image: string;
const certificateFile = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE;
const certificates = certificateFile ? fs.readFileSync(certificateFile, 'utf8') : undefined;
const requests: DoorRequest[] = [];

beforeAll(async () => {
  fixture = await openPool();
  image = await fixture.engine.imageId(fixture.options.image);
  registry = registryEnvironment({ npm: npm('config', 'get', 'registry') });
  project = makeNpmProject();
}, 180_000);
afterAll(() => fixture[Symbol.asyncDispose]());

/** A workspace of two packages that need two versions of a third, so that one of them is nested. */
function makeNpmProject(): Readonly<Record<string, string>> {
  const directory = makeTemporaryDirectory();
  const manifest = (name: string, version: string) =>
    JSON.stringify({ name, version: '1.0.0', dependencies: { ms: version } });
  const files = {
    'package.json': JSON.stringify({
      name: 'root',
      private: true,
      workspaces: ['packages/*'],
      scripts: { postinstall: 'echo built > built.generated' },
    }),
    'packages/a/package.json': manifest('a', '2.1.3'),
    'packages/b/package.json': manifest('b', '2.0.0'),
    '.gitignore': 'node_modules\n*.generated\nkept-before.log\n',
    'kept-before.log': 'committed although ignored\n',
    'src/index.js': '',
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    fs.writeFileSync(path.join(directory, name), text);
  }
  execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: directory });
  const lock = fs.readFileSync(path.join(directory, 'package-lock.json'), 'utf8');
  fs.rmSync(directory, { recursive: true });
  return { ...files, 'package-lock.json': lock };
}

async function layProject(slot: Slot, files = project): Promise<void> {
  for (const [name, text] of Object.entries(files)) await slot.files.write(name, text);
}

function door(): DoorGrant {
  return { allow: registry.hosts, privateAllowed: registry.hosts, onRequest: (request) => requests.push(request) };
}

async function openSlot(files = project): Promise<Slot> {
  const slot = await fixture.pool.claim({ ...claim('setup'), door: door() });
  await layProject(slot, files);
  return slot;
}

function openStore(): SetupStore {
  const directory = makeTemporaryDirectory();
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return createSetupStore({ directory: path.join(directory, 'setups'), newId, now });
}

async function planOf(files: Readonly<Record<string, string>>) {
  const readFile = async (name: string) => files[name] ?? '';
  const plan = await detectSetup({ files: Object.keys(files), readFile, tools: new Set(['npm', 'python3']) });
  if (plan.kind !== 'commands') throw new Error(`no commands were found: ${plan.kind}`);
  const lockFiles = plan.lockFiles.map((name) => ({
    path: name,
    sha256: createHash('sha256')
      .update(files[name] ?? '')
      .digest('hex'),
  }));
  return { ...plan, key: setupKey({ image, commands: plan.commands, lockFiles }) };
}

async function requestFor(files = project): Promise<SetupRequest> {
  const { key, commands } = await planOf(files);
  return {
    key,
    commands,
    environment: registry.environment,
    ...(certificates && { certificates }),
    openSlot: () => openSlot(files),
  };
}

/** A key for a setup that is made up. */
const madeUpKey = () => createHash('sha256').update(newId()).digest('hex');

test('a project is set up once through the door, and laid in later workspaces without a network', async () => {
  const store = openStore();
  const request = await requestFor();
  let output = '';
  const made = await store.ensure({ ...request, onOutput: (text) => (output += text) });
  expect(made).toMatchObject({ kind: 'made' });
  expect(output).toContain('added');
  expect(output).not.toContain('warn');
  expect(requests.length).toBeGreaterThan(0);
  expect(new Set(requests.map(({ verdict }) => verdict))).toEqual(new Set(['allowed']));

  const before = requests.length;
  const never = () => Promise.reject(new Error('the setup was made again'));
  expect(await store.ensure({ ...request, openSlot: never })).toMatchObject({ kind: 'reused' });
  await using slot = await fixture.pool.claim(claim('build'));
  await layProject(slot);
  await slot.files.write('kept-before.log', 'changed by this run\n');
  const laid = await store.lay(request.key, slot);
  const used = await slot.run({
    shell: `node -p "require('ms/package.json').version + require('./packages/b/node_modules/ms/package.json').version"; (cd packages/b && node -p "require('ms/package.json').version + ' ' + require('a/package.json').name"); cat kept-before.log built.generated; stat -c %U node_modules node_modules/ms/package.json; ls -A`,
  });
  expect(used.output.split('\n')).toEqual([
    '2.1.32.0.0',
    '2.0.0 a',
    'changed by this run',
    'built',
    'agent',
    'agent',
    '.gitignore',
    'built.generated',
    'kept-before.log',
    'node_modules',
    'package-lock.json',
    'package.json',
    'packages',
    'src',
    '',
  ]);
  expect(requests.length).toBe(before);
  console.info('setup in ms', {
    made: Math.round(made.durationMs),
    laid: Math.round(laid.durationMs),
    bytes: made.bytes,
  });
}, 180_000);

test('what package managers fill is kept at any depth, whether or not the project ignores it', async () => {
  const store = openStore();
  const files = { 'package.json': '{}', 'packages/a/package.json': '{}' };
  const install = 'for d in . packages/a; do mkdir -p $d/node_modules/x && echo $d > $d/node_modules/x/index.js; done';
  const request: SetupRequest = {
    key: madeUpKey(),
    commands: [`${install}; mkdir .venv; echo v > .venv/pyvenv.cfg; echo no > leftover`],
    openSlot: () => openSlot(files),
  };
  await store.ensure(request);
  await using slot = await fixture.pool.claim(claim());
  await layProject(slot, files);
  await store.lay(request.key, slot);
  const laid = 'cat node_modules/x/index.js packages/a/node_modules/x/index.js .venv/pyvenv.cfg; ls -A';
  expect((await slot.run({ shell: laid })).output).toBe(
    '.\npackages/a\nv\n.venv\nnode_modules\npackage.json\npackages\n',
  );
});

test('two processes that want the same setup make it once', async () => {
  const store = openStore();
  let opened = 0;
  const request: SetupRequest = {
    key: madeUpKey(),
    commands: ['echo x > made.generated'],
    openSlot: async () => {
      opened += 1;
      return openSlot();
    },
  };
  const results = await Promise.all([store.ensure(request), store.ensure(request), store.ensure(request)]);
  expect(opened).toBe(1);
  expect(results.map(({ kind }) => kind).toSorted()).toEqual(['made', 'reused', 'reused']);
});

test('a setup that fails says what it printed last and leaves nothing under its key', async () => {
  const store = openStore();
  const request: SetupRequest = {
    key: madeUpKey(),
    commands: ['true', 'echo no such thing >&2; exit 3', 'touch never'],
    openSlot,
  };
  await expect(store.ensure(request)).rejects.toMatchObject({
    code: errors.setupFailed.code,
    details: { command: 'echo no such thing >&2; exit 3', reason: 'exit code 3', output: 'no such thing\n' },
  });
  expect(await store.has(request.key)).toBe(false);
  expect(fixture.pool.available()).toBe(4);
  const slow: SetupRequest = { ...request, commands: ['sleep 100'], timeoutMs: 300 };
  await expect(store.ensure(slow)).rejects.toMatchObject({ details: { reason: expect.stringContaining('stopped') } });
});

test('a process that died in the middle leaves no half result, and its lock is taken over', async () => {
  const parent = makeTemporaryDirectory();
  onTestFinished(() => fs.rmSync(parent, { recursive: true, force: true }));
  const request: SetupRequest = { key: madeUpKey(), commands: ['echo x > made.generated'], openSlot };
  fs.mkdirSync(path.join(parent, '.making-dead'));
  fs.writeFileSync(path.join(parent, '.making-dead', 'files.tar'), 'half');
  fs.writeFileSync(path.join(parent, `${request.key}.lock`), 'dead');
  const store = createSetupStore({ directory: parent, newId, now, deadAfterMs: 1000 });
  expect(await store.has(request.key)).toBe(false);
  expect(await store.ensure(request)).toMatchObject({ kind: 'made' });
}, 90_000);

test('a setup reaches the listed hosts and no other', async () => {
  const store = openStore();
  const fetches =
    'node -e \'fetch("https://evil.example/").then(() => console.log("reached"), () => process.exit(7))\'';
  await expect(store.ensure({ key: madeUpKey(), commands: [fetches], openSlot })).rejects.toMatchObject({
    details: { exitCode: 7 },
  });
  expect(requests.at(-1)).toMatchObject({ host: 'evil.example', verdict: 'refused' });
});

test('what a setup leaves may point anywhere: it is archived and laid inside of containers only', async () => {
  const store = openStore();
  const outside = makeTemporaryDirectory();
  onTestFinished(() => fs.rmSync(outside, { recursive: true, force: true }));
  fs.writeFileSync(path.join(outside, 'canary'), 'alive');
  fs.chmodSync(outside, 0o777);
  const hostile = `mkdir -p node_modules/deep && ln -s ${outside} node_modules/out && ln -s / node_modules/root && ln -s ../../../../etc/passwd node_modules/passwd
    git init -q node_modules/nested && ln node_modules/deep/../../package.json node_modules/hard; printf x > "node_modules/new
line"; printf x > node_modules/-rf`;
  const request: SetupRequest = { key: madeUpKey(), commands: [hostile], openSlot };
  await store.ensure(request);
  await using slot = await fixture.pool.claim(claim());
  await layProject(slot);
  await store.lay(request.key, slot);
  const found = await slot.run({
    shell: 'ls -A node_modules | cat -A; readlink node_modules/out; test -e node_modules/nested/.git && echo nested',
  });
  expect(found.output).toContain(`${outside}\n`);
  expect(found.output).not.toContain('nested');
  expect(fs.readdirSync(outside)).toEqual(['canary']);
  await expect(slot.files.read('node_modules/out/canary')).rejects.toMatchObject({ code: errors.pathRefused.code });
});

test('laying what is not there, or into a workspace that is too small, says so', async () => {
  const store = openStore();
  await using slot = await fixture.pool.claim(claim());
  await expect(store.lay(madeUpKey(), slot)).rejects.toMatchObject({ code: errors.setupNotLaid.code });
});

test('a Python project gets an environment that works in a later workspace', async () => {
  const store = openStore();
  const files = {
    'pyproject.toml':
      '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "thing"\nversion = "1.0"\n',
    'src/thing/__init__.py': 'value = 42\n',
    '.gitignore': '*.egg-info\n',
  };
  const { key, commands, path: directories } = await planOf(files);
  await store.ensure({ key, commands, openSlot: () => openSlot(files) });
  await using slot = await fixture.pool.claim(claim());
  await layProject(slot, { ...files, 'src/thing/__init__.py': 'value = 43\n' });
  await store.lay(key, slot);
  const used = await slot.run(
    { shell: 'cd /tmp && python -c "import thing, sys; print(thing.value, sys.prefix)"' },
    { path: directories },
  );
  expect(used.output).toBe('43 /workspace/.venv\n');
}, 120_000);
