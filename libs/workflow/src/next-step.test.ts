import { readFileSync } from 'node:fs';
import type { StepId } from '@flotilla/contracts/ids';
import { outcomeKinds } from '@flotilla/contracts/outcome';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTopology } from './compile-topology.ts';
import { nextStep } from './next-step.ts';
import { resultOfRun } from './run-result.ts';

const slips = ['feature_builder', 'quick_fix'].map((name) =>
  compileTopology(readFileSync(new URL(`../topologies/${name}.yaml`, import.meta.url), 'utf8')),
);

test('whatever the steps answer, a run ends within its limit', () => {
  fc.assert(
    fc.property(fc.constantFrom(...slips), fc.infiniteStream(fc.constantFrom(...outcomeKinds)), (slip, outcomes) => {
      const visits: Record<string, number> = {};
      let at: StepId = slip.start;
      for (let taken = 1; taken <= slip.maxSteps; taken += 1) {
        visits[at] = (visits[at] ?? 0) + 1;
        const next = nextStep(slip, at, outcomes.next().value, visits);
        if (next.kind !== 'step' && next.kind !== 'gate') return true;
        at = next.stepId;
      }
      return false;
    }),
    { numRuns: 1000 },
  );
});

test('steps that always find an edge are stopped by the limit', () => {
  const [slip] = slips;
  const at = 'review' as StepId;
  expect(nextStep(slip!, at, 'changes_requested', { build: 5, review: 5 })).toEqual({
    kind: 'exhausted',
    limit: 'visits of build',
  });
  expect(nextStep(slip!, at, 'done', { build: 4, review: 36 })).toEqual({ kind: 'exhausted', limit: 'steps' });
});

test.each(['cancelled', 'failed', 'conflict'] as const)('a plan that ends %s stops the run', (outcome) => {
  expect(nextStep(slips[0]!, 'plan' as StepId, outcome, { plan: 1 })).toEqual({ kind: 'stopped' });
});

test('what has landed stays landed, whatever comes after it', () => {
  for (const lastWord of [...outcomeKinds, 'declined', 'exhausted'] as const)
    expect(resultOfRun('landed', lastWord)).toBe('landed');
});

test('nothing but a landing is landed, and a limit is never success', () => {
  for (const lastWord of [...outcomeKinds, 'declined', 'exhausted'] as const)
    expect(resultOfRun(undefined, lastWord)).not.toBe('landed');
  expect(resultOfRun(undefined, 'limit_reached')).toBe('limit_reached');
  expect(resultOfRun(undefined, 'exhausted')).toBe('limit_reached');
});
