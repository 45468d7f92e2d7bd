import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scrubText } from './scrub-text.ts';
import { escapeInvisible, toVisibleText } from './visible-text.ts';

test.each([
  ['a\u001b[31mb', 'a\\x1b[31mb'],
  ['a\rb', 'a\\rb'],
  ['\u202eabc', '\\u{202e}abc'],
  ['a\u200bb', 'a\\u{200b}b'],
  ['x\u{e0041}', 'x\\u{e0041}'],
  ['\u0085\u0000', '\\x85\\x00'],
  ['tab\tand\nnewline stay', 'tab\tand\nnewline stay'],
  ['naïve 日本 👍', 'naïve 日本 👍'],
])('%j is written as %j', (text, written) => {
  expect(escapeInvisible(text)).toBe(written);
});

test('bytes outside UTF-8 are written as escapes and the text around them stays', () => {
  expect(toVisibleText(Buffer.from([0x61, 0xff, 0x62, 0xc3, 0xa9, 0xc3, 0x28]))).toBe('a\\xffbé\\xc3(');
  expect(toVisibleText(Buffer.from([0xed, 0xa0, 0x80]))).toBe('\\xed\\xa0\\x80');
  expect(toVisibleText(Buffer.from('\ufffd'))).toBe('\ufffd');
});

test('whatever the bytes, the text holds nothing that is obeyed or hidden', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(toVisibleText(bytes)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/);
    }),
  );
});

test('a secret is hidden in each of its forms', () => {
  const secret = 'tok/en+1234567890';
  const basic = Buffer.from(`x-access-token:${secret}`).toString('base64');
  const text = `${secret} ${encodeURIComponent(secret)} ${Buffer.from(secret).toString('base64')} Authorization: Basic ${basic}`;
  const scrubbed = scrubText(text, { secrets: [secret, basic] });
  expect(scrubbed).toBe('<secret> <secret> <secret> Authorization: <secret>');
});

test('user information of an address, paths of ours and control characters do not pass', () => {
  const text = "fatal: unable to access 'https://me:pw@host/x': \u001b[31m\r\nin /var/cache/mirrors/abc.git/refs";
  expect(scrubText(text, { paths: ['/var/cache/mirrors/abc.git', '/var'] })).toBe(
    "fatal: unable to access 'https://host/x': \\x1b[31m\nin <path>/refs",
  );
});
