import { expect, test } from 'vitest';
import { checkMemory, checkNode } from './check-machine.ts';
import { renderResults } from './render-results.ts';

test('every failure says what to do', () => {
  for (const finding of [checkNode('20.20.2'), checkMemory(1e9)]) {
    expect(finding.ok).toBe(false);
    expect(finding.fix).toMatch(/\.$/);
  }
  expect(checkNode('24.21.0').ok).toBe(true);
  expect(checkMemory(8e9).ok).toBe(true);
});

test('the table puts the remedy below the failure and sums up', () => {
  const results = [
    { id: 'git.version', title: 'git', ok: true, detail: '2.39.5' },
    { id: 'memory', title: 'memory', ok: false, detail: '1.0 GB', fix: 'Add some.' },
  ];
  expect(renderResults(results)).toBe(
    '✓ git     2.39.5\n✗ memory  1.0 GB\n          → Add some.\n\n1 of 2 checks failed.\n',
  );
});
