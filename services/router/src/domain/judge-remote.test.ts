import { expect, test } from 'vitest';
import { whyRemoteRefused } from './judge-remote.ts';

test.each([
  '/srv/git/a.git',
  'https://git.example.com/a.git',
  'http://127.0.0.1:3000/a.git',
  'ssh://git@example.com:2222/a.git',
  'git@example.com:acme/a.git',
  'file:///srv/a.git',
  'http://[::1]:3000/a.git',
  'http://git.localhost/a.git',
  'git@example.com:a.git',
  'ssh://git@[fd00::1]/a.git',
  'https://git.example.com/a%20b.git',
])('%s may be tried', (remote) => {
  expect(whyRemoteRefused(remote)).toBeUndefined();
});

test.each([
  '-oProxyCommand=x',
  'https://ann:secret@example.com/a.git',
  'https://token@example.com/a.git',
  'ssh://git:secret@example.com/a.git',
  'ext::sh -c id',
  'ftp://example.com/a',
  'a/b',
  '../a',
  'https://',
  'git@example.com:-x',
  '/srv/a\nb',
  'host:',
  '',
  '  ',
  ' /srv/a.git',
  'http://git.example.com/a.git',
  'https://git.example.com',
  'https://git.example.com/',
  'https://git.example.com/a/../b',
  'https://git.example.com/%2e%2e/b',
  'https://git.example.com/a.git?x=1',
  'https://git.example.com/a.git#x',
  'https://git.example.com/%zz',
  'https://git.example.com/-x',
  'https:git.example.com/a.git',
  'https:\\\\git.example.com\\a',
  'file://host/a.git',
  'git@example.com:a/../b',
])('%j is refused', (remote) => {
  expect(whyRemoteRefused(remote)).toMatchObject({ code: 'PROJECT_REMOTE_INVALID' });
});
