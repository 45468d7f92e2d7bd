import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleLine, visibleText } from './visible-text.ts';

test.each([
  ['an escape sequence', '\u001b[2Jgone', '\\u{1b}[2Jgone'],
  ['a single byte control sequence', '\u009b31m', '\\u{9b}31m'],
  ['a backspace', 'rm\b\bls', 'rm\\u{8}\\u{8}ls'],
  ['a carriage return that overwrites', 'danger\rharmless', 'danger\\u{d}harmless'],
  ['a reversed direction', 'a\u202eb', 'a\\u{202e}b'],
  ['an isolate', 'a\u2066b\u2069', 'a\\u{2066}b\\u{2069}'],
  ['a sign of no width', 'pay\u200bpal', 'pay\\u{200b}pal'],
  ['a tag character', 'a\u{e0041}', 'a\\u{e0041}'],
  ['half a character', 'a\ud800', 'a\\u{d800}'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
])('%s is shown as what it is', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('line ends of every kind and tabs stay, and ordinary text of any script is untouched', () => {
  expect(visibleText('a\r\nb\n\tc')).toBe('a\nb\n\tc');
  expect(visibleText('Größe 大小 גודל 🚀 e\u0301')).toBe('Größe 大小 גודל 🚀 e\u0301');
});

test('no text can move the cursor, whatever it holds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visibleText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(visibleLine(text, 20)).not.toMatch(/[\n\t]/);
    }),
  );
});

test('a line says where something is left out, and five thousand spaces hide nothing', () => {
  expect(visibleLine('abcdef', 4)).toBe('abc…');
  expect(visibleLine(`ls${'\n'.repeat(5000)}rm -rf /`)).toBe('ls ⏎ rm -rf /');
  expect(visibleLine(`ls${' '.repeat(5000)}rm -rf /`, 40)).toMatch(/…$/);
});
