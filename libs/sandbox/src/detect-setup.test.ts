import { expect, test } from 'vitest';
import { detectSetup } from './detect-setup.ts';

const tools = new Set(['npm', 'python3']);

function detect(files: Readonly<Record<string, string>>, available: ReadonlySet<string> = tools) {
  const readFile = async (path: string) => files[path] ?? Promise.reject(new Error(`${path} was not listed`));
  return detectSetup({ files: Object.keys(files), readFile, tools: available });
}

const manifest = JSON.stringify({ dependencies: { a: '1' } });
const lock = JSON.stringify({ packages: { '': {}, 'node_modules/a': {} } });

test('a project with nothing to install needs nothing', async () => {
  expect(await detect({ 'README.md': '', 'src/a.js': '' })).toEqual({ kind: 'none' });
  expect(await detect({ 'package.json': '{"name":"x","scripts":{"test":"node --test"}}' })).toEqual({ kind: 'none' });
  expect(await detect({ 'package.json': '{}', 'package-lock.json': '{"packages":{"":{}}}' })).toEqual({ kind: 'none' });
  expect(await detect({ 'pyproject.toml': '[tool.ruff]\nline-length = 100\n' })).toEqual({ kind: 'none' });
});

test('a lock file of npm is installed as it says', async () => {
  expect(
    await detect({ 'package.json': manifest, 'package-lock.json': lock, 'sub/package.json': '{}', '.npmrc': '' }),
  ).toEqual({
    kind: 'commands',
    commands: ['npm ci --no-audit --no-fund'],
    lockFiles: ['.npmrc', 'package-lock.json', 'package.json'],
    path: [],
    notes: [],
  });
});

test('a workspace depends on the manifests of its packages, and not on those of its dependencies', async () => {
  const plan = await detect({
    'package.json': '{"workspaces":["packages/*"]}',
    'package-lock.json': lock,
    'packages/a/package.json': '{}',
    'node_modules/a/package.json': '{}',
  });
  expect(plan).toMatchObject({ lockFiles: ['package-lock.json', 'package.json', 'packages/a/package.json'] });
});

test('dependencies without a lock file are installed, and it is said that nothing pins them', async () => {
  expect(await detect({ 'package.json': manifest })).toMatchObject({
    commands: ['npm install --no-package-lock --no-save --no-audit --no-fund'],
    notes: [expect.stringContaining('no lock file')],
  });
});

test('a package manager that the image lacks is said, and nothing is run in its place', async () => {
  const files = { 'package.json': manifest, 'pnpm-lock.yaml': '' };
  expect(await detect(files)).toEqual({
    kind: 'unsupported',
    reason: 'it has a pnpm-lock.yaml, and the sandbox image has no pnpm',
  });
  expect(await detect(files, new Set(['pnpm']))).toMatchObject({ commands: ['pnpm install --frozen-lockfile'] });
  expect(await detect({ 'requirements.txt': 'a' }, new Set())).toMatchObject({ kind: 'unsupported' });
  expect(await detect({ 'package.json': '{' })).toMatchObject({ kind: 'unsupported' });
});

test('a Python project gets an environment that git does not see, and itself in it', async () => {
  const plan = await detect({
    'requirements.txt': 'six',
    'requirements-dev.txt': 'pytest',
    'pyproject.toml':
      '[project]\nname = "x"\n\n[project.optional-dependencies]\ntest = ["pytest"]\ndocs = ["sphinx"]\n\n[tool.x]\ndev = 1\n',
  });
  expect(plan).toEqual({
    kind: 'commands',
    commands: [
      "python3 -m venv .venv && printf '*\\n' > .venv/.gitignore",
      '.venv/bin/pip install --disable-pip-version-check -r requirements-dev.txt -r requirements.txt',
      ".venv/bin/pip install --disable-pip-version-check -e '.[test]'",
    ],
    lockFiles: ['pyproject.toml', 'requirements-dev.txt', 'requirements.txt'],
    path: ['.venv/bin'],
    notes: [],
  });
});

test.each([
  ['names none', '[project]\nname = "x"\n[build-system]\nrequires = ["setuptools"]\n', true],
  ['names an empty list', '[project]\ndependencies = [\n]\n', true],
  ['names one', '[project]\ndependencies = ["six"]\n', false],
  ['computes them', '[project]\ndynamic = ["version", "dependencies"]\n', false],
  ['is of another kind', '[build-system]\n[tool.poetry]\n[tool.poetry.dependencies]\n', false],
])('a package that %s may be put on the path when it cannot be built', async (_, toml, mayBe) => {
  const plan = await detect({ 'pyproject.toml': toml });
  expect(plan.kind === 'commands' && plan.commands.some((command) => command.includes('workspace.pth'))).toBe(mayBe);
});

test('a project of both kinds is set up for both', async () => {
  expect(
    await detect({ 'package.json': manifest, 'package-lock.json': lock, 'requirements.txt': 'six' }),
  ).toMatchObject({
    commands: [
      expect.stringContaining('npm ci'),
      expect.stringContaining('venv'),
      expect.stringContaining('-r requirements.txt'),
    ],
  });
});
