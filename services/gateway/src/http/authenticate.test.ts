import { Principal } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { createAuthenticator } from './authenticate.ts';

const authenticate = createAuthenticator([
  { token: 'first-token', principal: Principal.parse('anna'), roles: ['read'] },
  { token: 'second-token', principal: Principal.parse('ben'), roles: ['decide'] },
]);

test('a token gives the principal and roles it was issued for', () => {
  expect(authenticate('Bearer second-token', 'bearer')).toEqual({ principal: 'ben', roles: ['decide'] });
  expect(authenticate('bearer first-token', 'bearer').principal).toBe('anna');
});

test.each([undefined, '', 'Bearer', 'Bearer ', 'first-token', 'Token first-token', 'Bearer first-token second-token'])(
  '%j counts as no token',
  (header) => {
    expect(() => authenticate(header, 'bearer')).toThrow(
      expect.objectContaining({ code: 'TOKEN_MISSING', status: 401 }),
    );
  },
);

test.each(['Bearer first-toke', 'Bearer first-token1', 'Bearer FIRST-TOKEN', 'Bearer x'])('%j is refused', (header) => {
  expect(() => authenticate(header, 'bearer')).toThrow(expect.objectContaining({ code: 'TOKEN_REFUSED' }));
});

test('a password counts only where nothing can be changed', () => {
  const basic = `Basic ${Buffer.from('anybody:first-token').toString('base64')}`;
  expect(authenticate(basic, 'page').principal).toBe('anna');
  expect(() => authenticate(basic, 'bearer')).toThrow(
    expect.objectContaining({ code: 'TOKEN_NOT_BEARER', status: 401, advice: expect.stringContaining('Bearer TOKEN') }),
  );
});

test('without tokens nobody is let in', () => {
  expect(() => createAuthenticator([])('Bearer ', 'bearer')).toThrow();
  expect(() => createAuthenticator([])('Bearer x', 'bearer')).toThrow();
});
