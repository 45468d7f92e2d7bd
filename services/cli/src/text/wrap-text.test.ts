import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wrapEnd } from './wrap-text.ts';

test.each([
  ['between words', 'I look at the tests.', 10, 9, ['I look at', 'the tests.']],
  ['in a long word', 'abcdefghij', 4, 9, ['abcd', 'efgh', 'ij']],
  ['without its blank lines', 'one\n\n\ntwo\n', 10, 9, ['one', 'two']],
  ['with its end', 'one\ntwo\nthree\nfour', 10, 3, ['…', 'three', 'four']],
])('a text is cut %s', (_, text, columns, most, lines) => {
  expect(wrapEnd(text, columns, most)).toEqual(lines);
});

test('no line is longer than asked, there are never more of them, and the end is always there', () => {
  const word = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(word), fc.integer({ min: 2, max: 20 }), (words, columns) => {
      const text = words.join(' ');
      const lines = wrapEnd(text, columns, 3);
      expect(lines.length).toBeLessThanOrEqual(3);
      for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
      expect(text.replace(/\s/g, '').endsWith((lines.at(-1) ?? '').replace(/\s/g, ''))).toBe(true);
    }),
  );
});
