import { expect, test } from 'vitest';
import { explainCommand } from './explain-command.ts';

test('a command is explained part by part, the worst first', () => {
  expect(explainCommand('ls src && sudo rm -rf /tmp/x')).toBe(
    [
      'ls src && sudo rm -rf /tmp/x',
      '  is PRIVILEGED: it needs or gives elevated rights.',
      '  It is refused, and nobody is asked.',
      '  What it does cannot be taken back, so no mode and no earlier approval covers it.',
      '  Its parts:',
      '    PRIVILEGED  sudo rm -rf /tmp/x: runs something with other rights',
      '    DESTRUCTIVE  rm -rf /tmp/x: removes a tree by force',
      '    MUTATING  rm -rf /tmp/x: removes files',
      '    READ_ONLY  ls src: only reads',
    ].join('\n'),
  );
});

test.each([
  ['ls', {}, 'It runs without a question.'],
  ['touch x', {}, 'A person is asked first; in auto mode it runs.'],
  ['git push --force', {}, 'A person is asked first, in auto mode too.'],
  ['curl x.test', { network: false }, 'It is refused: it needs a network, and this step has none.'],
])('what follows from %j is said', (command, options, sentence) => {
  expect(explainCommand(command, options)).toContain(sentence);
});

test('what a terminal would obey is shown and not sent', () => {
  expect(explainCommand('echo \u001b[2K')).not.toContain('\u001b');
});
