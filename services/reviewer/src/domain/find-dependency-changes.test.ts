import { Finding } from '@flotilla/contracts/change';
import { expect, test } from 'vitest';
import { findDependencyChanges, isDependencyFile, noteDependencyChanges } from './find-dependency-changes.ts';

test.each([
  ['package.json', true],
  ['packages/a/package.json', true],
  ['package-lock.json', true],
  ['requirements-dev.txt', true],
  ['python/pyproject.toml', true],
  ['node_modules/x/package.json', false],
  ['src/package.json.ts', false],
  ['docs/requirements.md', false],
])('%s names packages: %s', (path, yes) => {
  expect(isDependencyFile(path)).toBe(yes);
});

const manifest = (parts: object) => JSON.stringify({ name: 'x', version: '1.0.0', ...parts });

test.each([
  ['a new package', manifest({}), manifest({ dependencies: { ms: '2.1.3' } }), true],
  ['another version', manifest({ devDependencies: { a: '1' } }), manifest({ devDependencies: { a: '2' } }), true],
  ['a new manifest that needs something', undefined, manifest({ dependencies: { a: '1' } }), true],
  ['a manifest that is no JSON any more', manifest({}), '{', true],
  ['a new manifest that needs nothing', undefined, manifest({}), false],
  [
    'another script and version of its own',
    manifest({}),
    manifest({ version: '2.0.0', scripts: { test: 'x' } }),
    false,
  ],
  ['another order', '{"dependencies":{},"workspaces":[]}', '{"workspaces":[],"dependencies":{}}', false],
])('%s is told as such', (_, before, after, changed) => {
  expect(findDependencyChanges([{ path: 'package.json', before, after }])).toEqual(changed ? ['package.json'] : []);
});

test('every change of a lock file counts', () => {
  expect(findDependencyChanges([{ path: 'yarn.lock', before: 'a', after: 'b' }])).toEqual(['yarn.lock']);
  expect(findDependencyChanges([{ path: 'yarn.lock', before: 'a', after: 'a' }])).toEqual([]);
});

test('the note fits its contract, and there is none where nothing changed', () => {
  expect(noteDependencyChanges([], 'failed')).toEqual([]);
  const paths = Array.from({ length: 60 }, (_, n) => `${'d'.repeat(3000)}/${n}/package.json`);
  const [note] = noteDependencyChanges(paths, 'failed');
  expect(Finding.safeParse(note).error).toBeUndefined();
  expect(note).toMatchObject({ severity: 'critical', text: expect.stringContaining('and 55 more') });
  expect(noteDependencyChanges(['package.json'], 'passed')).toMatchObject([{ severity: 'warning' }]);
});
