import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classifyLines } from './classify-lines.ts';

const answers = (...lines: string[]) => [...classifyLines(lines)];

test('a line is answered with its id and everything a decision needs', () => {
  expect(answers('{"id":"a","command":"ls && rm -rf x"}')).toEqual([
    {
      id: 'a',
      class: 'DESTRUCTIVE',
      classes: ['READ_ONLY', 'MUTATING', 'DESTRUCTIVE'],
      verdict: 'refuse',
      irreversible: true,
      reasons: ['DESTRUCTIVE: rm -rf x: removes a tree by force', 'MUTATING: rm -rf x: removes files'],
    },
  ]);
});

test('a line that cannot be answered says why, and the rest goes on', () => {
  expect(
    answers(
      '{"id":1,"command":"ls"}',
      '{',
      '[]',
      'null',
      '{"id":"b"}',
      '{"id":"c","command":7}',
      ' ',
      '{"command":"ls"}',
    ).map((answer) => ('error' in answer ? [answer.id, answer.error] : [answer.id, answer.class])),
  ).toEqual([
    [1, 'READ_ONLY'],
    [null, 'line 2 is not JSON'],
    [null, 'line 3 is not an object with an id and a command'],
    [null, 'line 4 is not an object with an id and a command'],
    ['b', 'line 5 has no command that is a string'],
    ['c', 'line 6 has no command that is a string'],
    [null, 'READ_ONLY'],
  ]);
});

test('without a network what needs one is refused', () => {
  expect([...classifyLines(['{"id":"a","command":"curl x.test"}'], { network: false })]).toMatchObject([
    { verdict: 'refuse' },
  ]);
});

test('whatever the lines are, there is an answer for each that is not blank', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => {
      expect([...classifyLines(lines)]).toHaveLength(lines.filter((line) => line.trim() !== '').length);
    }),
    { numRuns: 1000 },
  );
});
