import { expect, test } from 'vitest';
import { detectTests, type TestFacts } from './detect-tests.ts';

const packageJson = (test: string) => ({ 'package.json': JSON.stringify({ scripts: { test } }) });

test.each<[string, Partial<TestFacts>, string | undefined, string?]>([
  ['a package script', { texts: packageJson('vitest run') }, 'npm test', 'vitest'],
  ['a package script under pnpm', { files: ['pnpm-lock.yaml'], texts: packageJson('mocha') }, 'pnpm test', 'mocha'],
  [
    'a package script under yarn',
    { files: ['yarn.lock'], texts: packageJson('./check.sh') },
    'yarn test',
    'package script',
  ],
  ['the built-in runner in a script', { texts: packageJson('node --test') }, 'npm test', 'node:test'],
  [
    'the placeholder that npm init writes',
    { texts: packageJson('echo "Error: no test specified" && exit 1') },
    undefined,
  ],
  ['a script that is no text', { texts: { 'package.json': '{"scripts":{"test":1}}' } }, undefined],
  ['a package file that is no JSON', { files: ['Cargo.toml'], texts: { 'package.json': '{' } }, 'cargo test'],
  ['a vitest config', { files: ['vitest.config.ts'] }, 'npx --no-install vitest run'],
  ['a jest config', { files: ['jest.config.cjs'] }, 'npx --no-install jest'],
  ['a mocha config', { files: ['.mocharc.yml'] }, 'npx --no-install mocha'],
  [
    'test files beside a package without a script',
    { files: ['src/a.test.mjs'], texts: { 'package.json': '{}' } },
    'node --test',
  ],
  ['Cargo', { files: ['Cargo.toml'] }, 'cargo test'],
  ['Go', { files: ['go.mod'] }, 'go test ./...'],
  ['pytest.ini', { files: ['pytest.ini'] }, 'python3 -m pytest -q'],
  ['a conftest below', { files: ['tests/conftest.py'] }, 'python3 -m pytest -q'],
  ['a pytest section', { texts: { 'pyproject.toml': '[tool.pytest.ini_options]\n' } }, 'python3 -m pytest -q'],
  ['a pytest section of setup.cfg', { texts: { 'setup.cfg': '[tool:pytest]\n' } }, 'python3 -m pytest -q'],
  ['unittest files at the root', { files: ['test_a.py'] }, 'python3 -m unittest discover'],
  ['unittest files in a package', { files: ['tests/__init__.py', 'tests/test_a.py'] }, 'python3 -m unittest discover'],
  ['unittest files in a plain directory', { files: ['tests/test_a.py'] }, "python3 -m unittest discover -s 'tests'"],
  ['a directory with a quote in its name', { files: ["it's/test_a.py"] }, "python3 -m unittest discover -s 'it'\\''s'"],
  ['a make target', { texts: { Makefile: 'all:\n\ntest: all\n\t./t\n' } }, 'make test'],
  ['a make variable', { texts: { Makefile: 'test := x\n' } }, undefined],
  ['nothing at all', {}, undefined],
])('%s', (_, facts, command, framework) => {
  const detected = detectTests({ files: [], texts: {}, ...facts });
  expect(detected?.command).toBe(command);
  if (framework !== undefined) expect(detected?.framework).toBe(framework);
});
