import { expect, test } from 'vitest';
import { createRedactor } from './redact-secrets.ts';

const secret = 'sk-canary/1234=';
const redact = createRedactor([secret]);

test.each([
  ['plain', secret],
  ['URL-encoded', encodeURIComponent(secret)],
  ['base64', Buffer.from(secret).toString('base64')],
  ['inside JSON', JSON.stringify({ key: secret })],
])('a secret is taken out of a text where it is %s', (_, form) => {
  expect(redact(`before ${form} after`)).not.toContain(form.replace(/=+$/, ''));
  expect(redact(`before ${form} after`)).toMatch(/^before .*\[redacted\].* after$/);
});

test.each(['', 'u', 'us', 'user:', 'x-access-token:'])(
  'inside the base64 of %j and a secret nothing of it can be read',
  (before) => {
    const hidden = redact(Buffer.from(`${before}${secret}${before}`).toString('base64'));
    expect(hidden).toContain('[redacted]');
    const rest = hidden.split('[redacted]').map((part) => Buffer.from(part, 'base64').toString());
    for (const part of rest) expect(part).not.toMatch(/canary|1234/);
  },
);

test('a text without a secret is left as it is', () => {
  expect(redact('nothing here')).toBe('nothing here');
});
