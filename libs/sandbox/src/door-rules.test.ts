import { errors } from '@flotilla/errors/catalogue';
import { expect, test } from 'vitest';
import { decideAddresses, decideTarget, isPublicAddress, parseAuthority, parseDoorRule } from './door-rules.ts';

test.each([
  ['registry.example.org', { host: 'registry.example.org', port: undefined }],
  ['Mirror.Internal.:8080', { host: 'mirror.internal', port: 8080 }],
  ['127.0.0.1:4873', { host: '127.0.0.1', port: 4873 }],
  ['[::1]:80', { host: '::1', port: 80 }],
])('the rule %s names %j', (text, rule) => {
  expect(parseDoorRule(text)).toEqual(rule);
});

test.each(['', '*', '*.example.org', 'http://a', 'a b', 'a/b', 'user@a', 'a:0', 'a:99999', 'a:b', '::1', 'a\0b'])(
  'the rule %j is refused',
  (text) => {
    expect(() => parseDoorRule(text)).toThrow(expect.objectContaining({ code: errors.doorRefused.code }));
  },
);

const rules = ['registry.example.org', 'mirror.internal:8080'].map(parseDoorRule);

test.each([
  ['registry.example.org:443', 'allowed'],
  ['REGISTRY.example.org.:80', 'allowed'],
  ['registry.example.org:22', 'refused'],
  ['mirror.internal:8080', 'allowed'],
  ['mirror.internal:443', 'refused'],
  ['evil.example.org:443', 'refused'],
  ['registry.example.org.evil.example:443', 'refused'],
  ['xregistry.example.org:443', 'refused'],
])('%s is %s', (authority, kind) => {
  const target = parseAuthority(authority, 443);
  expect(target && decideTarget(rules, target).kind).toBe(kind);
});

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '::127.0.0.1',
  '64:ff9b:1::7f00:1',
  '2001::1',
  '2001:db8::1',
  '2130706433',
  '0x7f.1',
  'localhost',
  '',
])('%s leads inward', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  '93.184.216.34',
  '172.32.0.1',
  '100.128.0.1',
  '2606:2800:220:1::1',
  '::ffff:93.184.216.34',
  '64:ff9b::5db8:d822',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test('one inward address among public ones refuses the host, unless exactly this host and port may be private', () => {
  const target = { host: 'mirror.internal', port: 8080 };
  const addresses = ['93.184.216.34', '10.0.0.1'];
  expect(decideAddresses([], target, addresses).kind).toBe('refused');
  expect(decideAddresses([parseDoorRule('mirror.internal')], target, addresses).kind).toBe('refused');
  expect(decideAddresses([parseDoorRule('mirror.internal:8081')], target, addresses).kind).toBe('refused');
  expect(decideAddresses([parseDoorRule('mirror.internal:8080')], target, addresses).kind).toBe('allowed');
  expect(decideAddresses([], target, []).kind).toBe('refused');
});
