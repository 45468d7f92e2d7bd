import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { describe, expect, test } from 'vitest';
import { mergeLeaseKey } from './landing.ts';
import { parseBranchName } from './branch-name.ts';
import { parseRemote } from './remote.ts';
import { makeRemote, plainGit, scratchDirectory } from './scratch.fixture.ts';

const spellings = [
  'https://github.com/Org/Repo',
  'https://github.com/org/repo.git',
  'https://GitHub.com/org/repo/',
  'https://github.com:443/org/repo.git/',
  'https://github.com./org//repo',
  'ssh://git@github.com/org/repo.git',
  'ssh://git@github.com:22/org/repo',
  'git@github.com:org/repo.git',
  'git@github.com:/org/repo',
  'github.com:org/repo.git/',
];

test.each(spellings)('%s is the same repository as its other spellings', (spelling) => {
  expect(parseRemote(spelling).canonicalId).toBe('github.com/org/repo');
});

test('repositories that differ in host, port, path or case of the path are not the same', () => {
  const addresses = [
    'https://a.example/x',
    'https://a.example:8443/x',
    'https://b.example/x',
    'https://a.example/y',
    'https://a.example/X',
  ];
  expect(new Set(addresses.map((address) => parseRemote(address).canonicalId)).size).toBe(addresses.length);
});

test('one lease serves every spelling of a repository and another one every other branch', () => {
  const keys = spellings.map((spelling) => mergeLeaseKey(parseRemote(spelling).canonicalId, parseBranchName('main')));
  expect(new Set(keys)).toEqual(new Set(['merge:github.com/org/repo#refs/heads/main']));
  expect(mergeLeaseKey('github.com/org/repo', parseBranchName('Main'))).not.toBe(keys[0]);
});

test.each([
  ['https://git.example.com/a/b.git', 'https', 'https://git.example.com/a/b.git'],
  ['HTTPS://Git.Example.com/a/b%20c', 'https', 'https://git.example.com/a/b%20c'],
  ['http://127.0.0.1:3000/a/b.git', 'http', 'http://127.0.0.1:3000/a/b.git'],
  ['http://localhost/a', 'http', 'http://localhost/a'],
  ['http://[::1]:8080/a', 'http', 'http://[::1]:8080/a'],
  ['https://10.1.2.3/a', 'https', 'https://10.1.2.3/a'],
  ['ssh://me@host.example:2222/~me/a', 'ssh', 'ssh://me@host.example:2222/~me/a'],
  ['git@host.example:a/b.git', 'ssh', 'git@host.example:a/b.git'],
  ['  https://git.example.com/a  ', 'https', 'https://git.example.com/a'],
])('%s is taken as %s and given to git as %s', (address, kind, url) => {
  expect(parseRemote(address)).toMatchObject({ kind, url });
});

test.each([
  '',
  'ext::sh -c touch% /tmp/x',
  'EXT::sh',
  'fd::17',
  'https::https://example.com/x',
  '-u./x',
  '--upload-pack=touch x',
  'git://example.com/x',
  'ftp://example.com/x',
  'javascript://x',
  'https://user:secret@example.com/x',
  'https://ghp_secret@example.com/x',
  'https://@example.com/x',
  'https://example.com/x?y=1',
  'https://example.com/x#y',
  'https://example.com',
  'https://example.com/',
  'https://example.com/.git',
  'https://example.com/a/../b',
  'https://example.com/a/%2e%2e/%2e%2e/b%0ahost',
  'https://example.com/a%0ab',
  'https://example.com\\@evil.example/x',
  'https://exa mple.com/x',
  'https://example.com/x\ny',
  'https://example.com/-x/y',
  'http://example.com/x',
  'http://10.0.0.1/x',
  'http://169.254.169.254/latest',
  'https://169.254.169.254/x',
  'https://2852039166/x',
  'https://0xa9.0xfe.0xa9.0xfe/x',
  'https://[::ffff:169.254.169.254]/x',
  'https://[::ffff:a9fe:a9fe]/x',
  'https://[fe80::1]/x',
  'https://[fd00:ec2::254]/x',
  'https://0.0.0.0/x',
  'https://metadata.google.internal/x',
  'https://METADATA.google.internal./x',
  'https://100.100.100.200/x',
  'ssh://-oProxyCommand=x/r',
  'ssh://git@-oProxyCommand=x/r',
  'ssh://-oProxyCommand=x@host/r',
  'ssh://git:secret@host.example/r',
  'ssh://git@2852039166/r',
  'ssh://git@host.example/-r',
  'ssh://host.example',
  'ssh://git@host.example:99999999/r',
  'git@169.254.169.254:r',
  '-oProxyCommand=x:r',
  'git@-oProxyCommand=x:r',
  'git@host.example:-r',
  'git@host.example:a/../../b',
  'relative/path',
  './relative',
  '../up',
  'file://other.host/x',
  'file:relative',
  'C:\\x',
])('%j is refused', (address) => {
  expect(() => parseRemote(address)).toThrow(expect.objectContaining({ code: 'REMOTE_URL_REFUSED' }));
});

test('a credential in an address is not repeated in the refusal', () => {
  expect(() => parseRemote('https://user:hunter2secret@example.com/x')).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('hunter2secret') }),
  );
});

describe('a local repository', () => {
  test('is known by its real path, whatever links and spelling lead to it', () => {
    const { directory, bare } = makeRemote();
    symlinkSync(bare, join(directory, 'link'));
    const ids = [
      bare,
      `${bare}/`,
      `file://${bare}`,
      `file://localhost${bare}`,
      join(directory, 'link'),
      join(directory, 'remote'),
    ].map((address) => parseRemote(address).canonicalId);
    expect(new Set(ids)).toEqual(new Set([`file:${bare}`]));
  });

  test('with a work tree is the same as its .git directory', () => {
    const { checkout } = makeRemote();
    expect(parseRemote(checkout.directory)).toEqual(parseRemote(join(checkout.directory, '.git')));
  });

  test('that is a linked work tree is taken', () => {
    const { checkout, directory } = makeRemote();
    plainGit(checkout.directory, 'worktree', 'add', '-q', join(directory, 'linked'), '-b', 'side');
    expect(parseRemote(join(directory, 'linked')).kind).toBe('local');
  });

  test('is not found where there is none', () => {
    expect(() => parseRemote('file:///etc')).toThrow(expect.objectContaining({ code: errors.remoteNotFound.code }));
    expect(() => parseRemote('/nowhere/at/all')).toThrow(expect.objectContaining({ code: errors.remoteNotFound.code }));
  });

  test('outside the allowed or inside a refused directory is refused, also behind a link', () => {
    const { bare, directory } = makeRemote();
    const allowed = join(scratchDirectory(), 'allowed');
    mkdirSync(allowed);
    symlinkSync(bare, join(allowed, 'link'));
    const refused = expect.objectContaining({ code: 'REMOTE_URL_REFUSED' });
    expect(() => parseRemote(join(allowed, 'link'), { allowedUnder: [allowed] })).toThrow(refused);
    expect(() => parseRemote(bare, { refusedUnder: [directory] })).toThrow(refused);
    expect(parseRemote(bare, { allowedUnder: [directory], refusedUnder: [`${directory}-other`] }).kind).toBe('local');
  });
});
