import type { RunResult } from '@flotilla/contracts/events/run-events';
import type { StepId } from '@flotilla/contracts/ids';
import type { Verb } from '@flotilla/contracts/verbs';
import { nextStep, type Next } from './next-step.ts';
import { outcomesOfVerb } from './outcomes-of-verb.ts';
import { resultOfRun, type LastWord, type Settled } from './run-result.ts';
import type { Slip } from './slip.ts';
import type { Example } from './topology.ts';

export interface ExampleProblem {
  readonly path: string;
  readonly reason: string;
}

/** The first example that the slip does not keep. */
export function checkExamples(slip: Slip, examples: readonly Example[]): ExampleProblem | undefined {
  for (const [index, example] of examples.entries()) {
    const told = tellExample(slip, example);
    if (told.kind === 'strayed') return { path: `examples.${index}.path.${told.at}`, reason: told.reason };
    if (told.result !== example.ends)
      return { path: `examples.${index}.ends`, reason: `"${example.name}" ends ${told.result}` };
  }
  return undefined;
}

type Told =
  | { readonly kind: 'strayed'; readonly at: number; readonly reason: string }
  | { readonly kind: 'ended'; readonly result: RunResult };

function tellExample(slip: Slip, { path, name }: Example): Told {
  const visits: Record<string, number> = {};
  let expected: StepId | undefined = slip.start;
  let settled: Settled;
  let ended: LastWord | undefined;
  for (const [at, visit] of path.entries()) {
    const [stepId, outcome] = onlyVisit(visit);
    if (stepId !== expected)
      return { kind: 'strayed', at, reason: `"${name}" comes to ${expected ?? 'its end'}, not to ${stepId}` };
    visits[stepId] = (visits[stepId] ?? 0) + 1;
    const step = slip.steps[stepId];
    if (step?.kind === 'work' && step.does === 'land' && outcome === 'done') settled = 'landed';
    if (step?.kind === 'work' && outcome === 'no_changes' && mayChangeNothing(step.does)) settled = 'no_changes';
    if (outcome === 'declined' && step?.kind !== 'gate')
      return { kind: 'strayed', at, reason: 'only a gate is declined' };
    const next: Next = outcome === 'declined' ? { kind: 'stopped' } : nextStep(slip, stepId, outcome, visits);
    expected = next.kind === 'step' || next.kind === 'gate' ? next.stepId : undefined;
    if (expected === undefined) ended = next.kind === 'exhausted' ? 'exhausted' : outcome;
  }
  if (ended === undefined)
    return { kind: 'strayed', at: path.length, reason: `"${name}" is not told to its end; next is ${expected}` };
  return { kind: 'ended', result: resultOfRun(settled, ended) };
}

function mayChangeNothing(verb: Verb): boolean {
  return outcomesOfVerb[verb].includes('no_changes');
}

function onlyVisit(visit: Example['path'][number]): readonly [StepId, LastWord & Example['path'][number][StepId]] {
  // The schema wants exactly one entry, whose key was parsed as a step id.
  return Object.entries(visit)[0] as [StepId, Example['path'][number][StepId]];
}
