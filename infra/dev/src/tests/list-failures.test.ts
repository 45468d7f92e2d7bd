import { expect, test } from 'vitest';
import { findFailures, findStrayFailures, listFailures, type TestReport } from './list-failures.ts';

type File = TestReport['testResults'][number];
const passing = { fullName: 'adds', status: 'passed', failureMessages: [] };
const failing = { fullName: 'money rounds half up', status: 'failed', failureMessages: ['expected 1', 'expected 2'] };
const file = (changes: Partial<File>): File => ({
  name: '/clone/libs/a/src/a.test.ts',
  status: 'failed',
  message: '',
  assertionResults: [passing],
  ...changes,
});
const find = (...testResults: readonly File[]) =>
  findFailures('unit', { numPassedTests: 1, testResults }, '/clone').map(({ name, message }) => [name, message]);

test('each failed test is found with all that it said', () => {
  expect(find(file({ assertionResults: [passing, failing, { ...passing, status: 'skipped' }] }))).toEqual([
    ['money rounds half up', 'expected 1\nexpected 2'],
  ]);
  expect(find(file({ status: 'passed' }))).toEqual([]);
});

test.each([
  ['that cannot be loaded', file({ message: 'Cannot find module', assertionResults: [] }), 'Cannot find module'],
  ['whose hook fails after its tests', file({ message: 'hook' }), 'hook'],
  ['that failed without a word', file({}), ''],
])('a file %s is found as a whole', (_, broken, message) => {
  expect(find(broken)).toEqual([['the file as a whole', message]]);
});

test('a file whose hook fails beside a test is found for both', () => {
  expect(find(file({ message: 'hook', assertionResults: [failing] })).map(([name]) => name)).toEqual([
    'the file as a whole',
    'money rounds half up',
  ]);
});

test('the list names suite, file and test, and the first lines of what was said, without colours and frames of others', () => {
  const [stray] = findStrayFailures('real', [{ message: 'boom', file: '/clone/test/b.test.ts' }], '/clone');
  const frames = '    at file:///clone/node_modules/vitest/run.js:1:1\n    at new Promise (<anonymous>)\n';
  const message = `\u001b[31mone\u001b[39m\n\n${frames}${'more\n'.repeat(9)}`;
  expect(
    listFailures([
      { suite: 'unit', file: 'libs/a.test.ts', name: 'adds', message },
      { suite: 'check', name: 'npm run lint', message: 'ended with exit code 1' },
      stray!,
    ]),
  ).toBe(`FAILED unit > libs/a.test.ts > adds
    one
    more
    more
    more
    more
    more
FAILED check > npm run lint
    ended with exit code 1
FAILED real > test/b.test.ts > an error that no test caught
    boom
`);
});

test('of very many failures the number is told, and of none nothing', () => {
  const many = Array.from({ length: 60 }, () => ({ suite: 'unit', name: 'x', message: '' }));
  expect(listFailures(many).trimEnd().split('\n').slice(-2)).toEqual(['FAILED unit > x', 'and 10 more failed']);
  expect(listFailures([])).toBe('');
});
