import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redact } from './redact.ts';
import { readRetryAfter } from './retry-after.ts';
import { SecretKey } from './secret-key.ts';

test('no spelling of the key survives, wherever it stands, and no cut leaves half of it', () => {
  const key = fc
    .string({ minLength: 8, maxLength: 40 })
    .filter((text) => text.trim() === text && !'[redacted]'.includes(text));
  fc.assert(
    fc.property(key, fc.nat({ max: 520 }), (secret, before) => {
      const shown = redact(
        `${'.'.repeat(before)}${secret}|${Buffer.from(secret).toString('base64')}|${encodeURIComponent(secret)}`,
        new SecretKey(secret),
      );
      return !shown.includes(secret) && !shown.includes(Buffer.from(secret).toString('base64').slice(0, -2));
    }),
  );
});

test('what looks like some other key is taken out too', () => {
  expect(redact('used sk-proj-abcdefghijkl and Bearer abcdefghijkl', undefined)).toBe('used [redacted] and [redacted]');
});

test('control characters and line ends become spaces', () => {
  expect(redact('a\r\n{"level":"info"}\u001b[31mb\u2028c', undefined)).toBe('a {"level":"info"} [31mb c');
});

test.each([['-5'], ['soon'], [''], ['1e9'], ['NaN']])('a retry-after of %j says nothing', (text) => {
  expect(readRetryAfter({ 'retry-after': text }, 0)).toBeUndefined();
});

test('a date in the past asks for no wait', () => {
  expect(readRetryAfter({ 'retry-after': 'Mon, 30 Nov 2026 00:00:00 GMT' }, Date.parse('2026-12-01'))).toBe(0);
});
