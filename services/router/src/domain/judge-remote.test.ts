import { expect, test } from 'vitest';
import { whyRemoteRefused } from './judge-remote.ts';

test.each([
  '/srv/git/a.git',
  'https://git.example.com/a.git',
  'http://127.0.0.1:3000/a.git',
  'ssh://git@example.com:2222/a.git',
  'git@example.com:acme/a.git',
  'file:///srv/a.git',
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
])('%j is refused', (remote) => {
  expect(whyRemoteRefused(remote)).toMatchObject({ code: 'PROJECT_REMOTE_INVALID' });
});
