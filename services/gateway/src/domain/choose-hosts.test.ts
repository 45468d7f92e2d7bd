import { expect, test } from 'vitest';
import { chooseHosts } from './choose-hosts.ts';

test.each([
  ['127.0.0.1', [], ['localhost', '127.0.0.1', '[::1]']],
  ['::1', ['Fleet.local'], ['localhost', '127.0.0.1', '[::1]', 'fleet.local']],
  ['0.0.0.0', ['fleet.example'], ['fleet.example']],
  ['0.0.0.0', [], undefined],
])('a gateway on %s with %j listed answers to %j', (listenHost, listed, expected) => {
  expect(chooseHosts(listenHost, listed)).toEqual(expected);
});
