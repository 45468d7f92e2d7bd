import { Finding } from '@flotilla/contracts/change';
import type { TreeId } from '@flotilla/contracts/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeChecks, type CheckRun } from './judge-checks.ts';

const tree = 'b'.repeat(40) as TreeId;
const run = (parts: Partial<CheckRun> = {}): CheckRun => ({
  command: 'npm test',
  exitCode: 0,
  timedOut: false,
  durationMs: 900,
  output: 'ok',
  ...parts,
});

test('evidence names the tree, the image and every check that passed', () => {
  expect(judgeChecks(tree, 'box:1', [run(), run({ command: 'npm run lint' })])).toEqual({
    kind: 'passed',
    evidence: { tree, image: 'box:1', checks: ['npm test', 'npm run lint'] },
  });
});

test('one failure is enough, and its output goes to the author', () => {
  const verdict = judgeChecks(tree, 'box:1', [run(), run({ command: 'lint', exitCode: 2, output: 'line 3: no' })]);
  expect(verdict).toMatchObject({
    kind: 'failed',
    failed: { command: 'lint' },
    finding: { severity: 'critical', text: expect.stringContaining('line 3: no') },
  });
});

test('a check that ran out of time failed even where its exit code is 0', () => {
  expect(judgeChecks(tree, 'box:1', [run({ timedOut: true })])).toMatchObject({
    kind: 'failed',
    finding: { text: expect.stringContaining('ran out of time') },
  });
});

test('however long command and output are, the finding fits its contract and keeps the end of the output', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 5_000 }), fc.string({ maxLength: 9_000 }), (command, output) => {
      const verdict = judgeChecks(tree, 'box:1', [run({ command, exitCode: 1, output: `${output}END` })]);
      if (verdict.kind !== 'failed') throw new Error('it failed');
      expect(Finding.safeParse(verdict.finding).success).toBe(true);
      expect(verdict.finding.text.endsWith('END')).toBe(true);
    }),
  );
});
