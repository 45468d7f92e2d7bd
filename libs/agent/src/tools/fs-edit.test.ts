import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyEdit } from './fs-edit.ts';

test.each([
  ['a passage that is there once', 'one two three', 'two', '2', false, 'one 2 three'],
  ['every passage when all is asked', 'a b a', 'a', 'c', true, 'c b c'],
  ['a passage with what a pattern would take for special', 'a.*$& b', '.*$&', '$1', false, 'a$1 b'],
  ['lines of a file with carriage returns', 'a\r\nb\r\nc', 'a\nb', 'x\ny', false, 'x\r\ny\r\nc'],
])('replaces %s', (_, text, find, replace, all, expected) => {
  expect(applyEdit(text, find, replace, all)).toMatchObject({ kind: 'edited', text: expected });
});

test.each([
  ['one', 'x', 'y', 'EDIT_NOT_FOUND'],
  ['a a', 'a', 'b', 'EDIT_AMBIGUOUS'],
  ['a', 'a', 'a', 'EDIT_CHANGES_NOTHING'],
])('refuses an edit of %j from %j to %j as %s', (text, find, replace, code) => {
  expect(applyEdit(text, find, replace, false)).toMatchObject({ kind: 'refused', result: { ok: false, code } });
});

test('an edit and its reverse give the file back', () => {
  const word = fc.string({ minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(word), word, word, (parts, find, replace) => {
      const text = [...parts, `<<${find}>>`].join('|');
      const there = applyEdit(text, `<<${find}>>`, `[[${replace}]]`, false);
      fc.pre(there.kind === 'edited' && !text.includes(`[[${replace}]]`));
      const back = there.kind === 'edited' ? applyEdit(there.text, `[[${replace}]]`, `<<${find}>>`, false) : there;
      return back.kind === 'edited' && back.text === text;
    }),
  );
});
