import { expect, test } from 'vitest';
import { setupKey } from './setup-key.ts';

const facts = {
  image: 'sha256:1',
  commands: ['npm ci'],
  lockFiles: [
    { path: 'package-lock.json', sha256: 'aa' },
    { path: 'package.json', sha256: 'bb' },
  ],
};

test('the same facts give the same key, in whatever order files are listed', () => {
  expect(setupKey({ ...facts, lockFiles: facts.lockFiles.toReversed() })).toBe(setupKey(facts));
  expect(setupKey(facts)).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['image', { ...facts, image: 'sha256:2' }],
  ['commands', { ...facts, commands: ['npm', 'ci'] }],
  ['a lock file', { ...facts, lockFiles: [{ path: 'package-lock.json', sha256: 'ab' }] }],
  [
    'the place of a lock file',
    { ...facts, lockFiles: facts.lockFiles.map((file) => ({ ...file, path: `sub/${file.path}` })) },
  ],
])('another %s gives another key', (_, other) => {
  expect(setupKey(other)).not.toBe(setupKey(facts));
});
