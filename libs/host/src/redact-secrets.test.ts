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

test('a text without a secret is left as it is', () => {
  expect(redact('nothing here')).toBe('nothing here');
});
