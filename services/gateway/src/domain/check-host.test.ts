import { expect, test } from 'vitest';
import { checkHost, loopbackHosts } from './check-host.ts';

const allowedHosts = loopbackHosts;

test.each(['localhost:4800', '127.0.0.1', '[::1]:4800', 'LOCALHOST:1'])('%s is this machine', (host) => {
  expect(() => checkHost({ host, origin: undefined, allowedHosts })).not.toThrow();
});

test.each([undefined, '', 'evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:4800', '[::2]:1'])(
  '%j is a name somebody pointed at this machine',
  (host) => {
    expect(() => checkHost({ host, origin: undefined, allowedHosts })).toThrow(
      expect.objectContaining({ code: 'HOST_REFUSED' }),
    );
  },
);

test('a page of the gateway itself may call it', () => {
  expect(() => checkHost({ host: 'localhost:4800', origin: 'http://localhost:4800', allowedHosts })).not.toThrow();
});

test.each([
  'http://localhost:3000',
  'http://127.0.0.1:4800',
  'https://evil.example',
  'null',
  'file://',
  'http://localhost:4800/x',
])('a page of %s may not', (origin) => {
  expect(() => checkHost({ host: 'localhost:4800', origin, allowedHosts })).toThrow(
    expect.objectContaining({ code: 'ORIGIN_REFUSED' }),
  );
});

test('where any name will do, a foreign page is refused all the same', () => {
  expect(() => checkHost({ host: 'fleet.example', origin: undefined, allowedHosts: undefined })).not.toThrow();
  expect(() => checkHost({ host: 'fleet.example', origin: 'https://evil.example', allowedHosts: undefined })).toThrow();
});
