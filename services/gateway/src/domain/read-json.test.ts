import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JSON_DEPTH, readJson } from './read-json.ts';

const read = (text: string) => readJson(new TextEncoder().encode(text));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['an array nested a hundred thousand deep', nested(100_000)],
  ['an object nested one too deep', '{"a":'.repeat(JSON_DEPTH + 1) + '1' + '}'.repeat(JSON_DEPTH + 1)],
  ['a key twice', '{"goal":"a","goal":"b"}'],
  ['a key twice in two spellings', '{"goal":"a","g\\u006fal":"b"}'],
  ['a key twice, further in', '{"a":[{"b":1,"c":2,"b":3}]}'],
  ['a prototype', '{"__proto__":{"x":1}}'],
  ['a prototype in an escape', '{"\\u005f_proto__":{"x":1}}'],
  ['a string without an end', '{"a":"'],
  ['half a document', '{"a":'],
  ['no JSON', 'goal=x'],
])('%s is refused', (_, text) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ code: 'BODY_UNREADABLE', status: 400 }));
});

test('bytes that are no UTF-8 are refused', () => {
  expect(() => readJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(expect.objectContaining({ code: 'BODY_UNREADABLE' }));
});

test('an empty body is an empty request', () => {
  expect(read('')).toEqual({});
});

test('brackets, commas and quotes inside strings count for nothing', () => {
  expect(read('{"a":"[[[[[[[[[[[[[[[[[[[[[[{,\\"a\\":","b":"a"}')).toEqual({
    a: '[[[[[[[[[[[[[[[[[[[[[[{,"a":',
    b: 'a',
  });
});

test('every JSON value that is not too deep reads as what it is', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      fc.pre(!text.includes('__proto__'));
      expect(read(text)).toEqual(JSON.parse(text));
    }),
  );
});
