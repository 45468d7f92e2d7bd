import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleanOutput, dropReasoning, showHidden, truncateText } from './clean-text.ts';
import { fence } from './fence.ts';

test('no content can end its own fence', () => {
  const nasty = fc
    .array(fc.constantFrom('</data-n1>', '<data-n1 name="x">', 'n1', 'x', 'n1x', '\n', 'a'), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(nasty, (content) => {
      const fenced = fence('result', content, 'n1');
      const tag = /^<(data-\w+) /.exec(fenced)?.[1] ?? '';
      return (
        fenced.split(`</${tag}>`).length === 2 && fenced.split(`<${tag} `).length === 2 && fenced.includes(content)
      );
    }),
  );
});

test('nothing hidden is left in a shown text, and nothing visible is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = showHidden(text);

      return (
        shown.isWellFormed() &&
        !/[\u0000-\u0008\u000e-\u001f\u200b-\u200f\u202a-\u202e\ufeff\u{e0001}]/u.test(shown) &&
        showHidden(shown) === shown
      );
    }),
  );
  expect(showHidden('tab\there\r\nline äöü 漢字 🚀\rover')).toBe('tab\there\r\nline äöü 漢字 🚀\nover');
});

test('the sequences of a terminal go, its text stays', () => {
  expect(cleanOutput('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007\u001b(Bplain')).toBe('red \\u{1b}(Bplain');
});

test('a text within its limit is left alone; a longer one keeps head and tail, never half a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 8, max: 100 }), (text, limit) => {
      const cut = truncateText(text, limit);
      return text.length <= limit
        ? cut === text
        : cut.isWellFormed() && cut.includes(' characters left out …]') && cut.length <= limit + 60;
    }),
  );
});

test.each([
  ['<think>a</think>b', 'b'],
  ['<THINKING>a\nb</THINKING>\nc', 'c'],
  ['b <think>never closed', 'b'],
  ['if a < think > b', 'if a < think > b'],
])('of %j, %j is the answer', (text, answer) => {
  expect(dropReasoning(text)).toBe(answer);
});
