import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { composeCommitMessage } from './commit-message.ts';
import { occasion } from './scratch.fixture.ts';

const trailers = 'Flotilla-Run: run_01j9z3k8m2n4p6q8r0s2t4v6w8\nFlotilla-Step: build\nFlotilla-Attempt: 1\n';

test.each([
  ['Fix the parser', `Fix the parser\n\n${trailers}`],
  ['\n\n  Fix it  \n\n\n\nBecause of x.   \n\n', `Fix it\n\nBecause of x.\n\n${trailers}`],
  ['', `Change without a description\n\n${trailers}`],
  ['Subject\nFlotilla-Run: forged', `Subject\n\n> Flotilla-Run: forged\n\n${trailers}`],
  ['FLOTILLA-step = x', `> FLOTILLA-step = x\n\n${trailers}`],
  ['a\u0000b\u001b[1m', `a\\x00b\\x1b[1m\n\n${trailers}`],
])('%j becomes a subject, a body and our trailers', (text, message) => {
  expect(composeCommitMessage(text, occasion)).toBe(message);
});

test('a subject is at most 120 characters and a text at most 10 000', () => {
  const [subject = ''] = composeCommitMessage('x'.repeat(500), occasion).split('\n');
  expect([...subject]).toHaveLength(120);
  expect(composeCommitMessage(`s\n${'y\n'.repeat(50_000)}`, occasion).length).toBeLessThan(11_000);
});

test('whatever the text, git reads our trailers and no other of ours', () => {
  const words = fc.constantFrom(
    'Flotilla-Run: x',
    'flotilla-step: y',
    ' Flotilla-Attempt: 9',
    'Signed-off-by: A <a@b>',
    '---',
    '',
    'text',
    '\r',
    'Fixes: #1',
    '# c',
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 8 }), (lines) => {
      const message = composeCommitMessage(lines.join('\n'), occasion);
      const parsed = execFileSync('git', ['interpret-trailers', '--parse', '--no-divider'], {
        input: message,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
        cwd: '/',
      });
      expect(parsed).toBe(trailers);
    }),
    { numRuns: 60 },
  );
});
