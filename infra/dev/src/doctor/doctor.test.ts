import { expect, test } from 'vitest';
import { checkMemory, checkNode } from './check-machine.ts';

test('every failure says what to do', () => {
  for (const finding of [checkNode('20.20.2'), checkMemory(1e9)]) {
    expect(finding.ok).toBe(false);
    expect(finding.fix).toMatch(/\.$/);
  }
  expect(checkNode('24.21.0').ok).toBe(true);
  expect(checkMemory(8e9).ok).toBe(true);
});
