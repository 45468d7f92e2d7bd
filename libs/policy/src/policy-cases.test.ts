import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decideLine } from './decide-line.ts';

const Case = z.looseObject({ id: z.string(), expected: z.string(), reason: z.string().optional(), why: z.string() });
const cases = readFileSync(new URL('../../../test/cases/policy.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const { expected, reason, why, ...asked } = Case.parse(JSON.parse(line));
    return { id: asked.id, why, expected, reason, line: JSON.stringify(asked) };
  });

test('every case has an id of its own', () => {
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
});

test.each(cases)('$id is $expected: $why', ({ id, expected, reason, line }) => {
  const answer = decideLine(line);
  expect(answer).toEqual({ id, verdict: expected, reason: expect.stringContaining(reason ?? '') });
});

test.each([
  [
    'B23: a repeated key',
    '{"id":"x","grants":{"fs.write":true,"fs.write":{"paths":"src/**"}},"call":{"tool":"fs.write"}}',
  ],
  [
    'B23: a repeated key, spelt otherwise',
    '{"id":"x","grants":{"fs.write":true,"fs\\u002ewrite":false},"call":{"tool":"x"}}',
  ],
  ['B24: a prototype', '{"id":"x","grants":{"__proto__":{"fs.delete":true}},"call":{"tool":"fs.delete","path":"a"}}'],
  [
    'a prototype among limits',
    '{"id":"x","grants":{"fs.read":{"__proto__":{"ask":true}}},"call":{"tool":"fs.read","path":"a"}}',
  ],
  ['a field that is none', '{"id":"x","grant":{"fs.read":true},"call":{"tool":"fs.read","path":"a"}}'],
  ['a mode that is none', '{"id":"x","mode":"Auto","grants":{"fs.read":true},"call":{"tool":"fs.read","path":"a"}}'],
  ['a request that is none', '{"id":"x","request":"free","grants":{},"call":{"tool":"fs.read","path":"a"}}'],
  ['grants that are no document', '{"id":"x","grants":"all","call":{"tool":"fs.read","path":"a"}}'],
  ['grants that are null', '{"id":"x","grants":null,"call":{"tool":"fs.read","path":"a"}}'],
])('a line with %s is rejected', (_, line) => {
  expect(decideLine(line)).toMatchObject({ id: 'x', verdict: 'reject' });
});

test.each(['', 'x', '{', '[]', 'null', '"a"', '{"id":{}}', '['.repeat(100_000), `"${'a'.repeat(1_000_001)}"`])(
  'a line that is none is rejected without an id (%#)',
  (line) => {
    expect(decideLine(line)).toMatchObject({ id: null, verdict: 'reject' });
  },
);

test.each(['+(+(a|b)|c)*x', 'a'.repeat(5000), '*'.repeat(5000), '{a,'.repeat(1000), '[a-'.repeat(80), '*a*a*a*a*b'])(
  'A31: a pattern that would be matched without end is rejected (%#)',
  (glob) => {
    const line = { id: 1, grants: { 'fs.write': { paths: glob } }, call: { tool: 'fs.write', path: 'a'.repeat(250) } };
    expect(decideLine(JSON.stringify(line)).verdict).toBe('reject');
  },
);
