import { expect, test } from 'vitest';
import { remoteHost } from './remote-host.ts';

test.each([
  ['https', 'git.example.com/acme/x', 'git.example.com'],
  ['ssh', 'git.example.com:2222/acme/x', 'git.example.com'],
  ['http', '127.0.0.1:3000/x', '127.0.0.1'],
  ['https', '[::1]:8443/x', '[::1]'],
  ['https', '[::1]/x', '[::1]'],
  ['local', 'file:/srv/git/x.git', undefined],
])('the host of %s %s is %s', (kind, canonicalId, host) => {
  expect(remoteHost({ kind, canonicalId })).toBe(host);
});
