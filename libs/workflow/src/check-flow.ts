import type { StepId } from '@flotilla/contracts/ids';
import type { OutcomeKind } from '@flotilla/contracts/outcome';
import type { SlipStep } from './slip.ts';
import { END } from './topology.ts';

/** What a run has in hand at a step. `result`: it landed, or there is nothing to land. */
type Fact = 'base' | 'change' | 'candidate' | 'approval' | 'result';
type Facts = ReadonlySet<Fact>;

const wants: Readonly<Record<string, readonly Fact[]>> = {
  open: [],
  setup: ['base'],
  plan: ['base'],
  build: ['base'],
  review: ['change'],
  gate: ['change'],
  verify: ['candidate', 'approval'],
  land: ['change', 'approval'],
  remember: ['result'],
};

const meanings: Readonly<Record<Fact, string>> = {
  base: 'the base commit, which `open` gives',
  change: 'a change, which `build` gives',
  candidate: 'a candidate, which `land` gives',
  approval: 'the approval of a human gate',
  result: 'a result, which `land` gives, or a build without changes',
};

const gives: Readonly<Record<string, readonly Fact[]>> = {
  'open/done': ['base'],
  'build/done': ['change'],
  'build/no_changes': ['result'],
  'land/unverified': ['candidate'],
  'land/parked': ['candidate'],
  'land/done': ['result'],
  'land/no_changes': ['result'],
  'gate/done': ['approval'],
};

/** What is no longer true: an approval is for one commit, so whatever makes another commit takes it away. */
const takes: Readonly<Record<string, readonly Fact[]>> = {
  'land/parked': ['approval'],
  'land/conflict': ['approval', 'candidate'],
  'land/done': ['approval', 'candidate'],
  'land/no_changes': ['approval', 'candidate'],
  'gate/changes_requested': ['approval', 'candidate'],
};

export interface FlowProblem {
  readonly stepId: StepId;
  readonly reason: string;
}

/**
 * Walks every way through the steps with what a run has in hand, and tells the first step that is reached without what
 * it needs. That `land` is reached only with the approval of a human gate is one case of it.
 */
export function checkFlow(start: StepId, steps: ReadonlyMap<StepId, SlipStep>): FlowProblem | undefined {
  const seen = new Set<string>();
  const visited = new Set<StepId>();
  const waiting: { readonly stepId: StepId; readonly facts: Facts; readonly way: readonly StepId[] }[] = [
    { stepId: start, facts: new Set(), way: [start] },
  ];
  for (let arrival = waiting.shift(); arrival !== undefined; arrival = waiting.shift()) {
    const { stepId, facts, way } = arrival;
    const step = steps.get(stepId);
    const key = `${stepId} ${[...facts].sort().join()}`;
    if (step === undefined || seen.has(key)) continue;
    seen.add(key);
    visited.add(stepId);
    const reason = whyNot(step, facts);
    if (reason !== undefined) return { stepId, reason: `${reason}; it is reached by ${way.join(' → ')}` };
    for (const [outcome, target] of Object.entries(step.on)) {
      if (target === END || target === undefined) continue;
      // Keys and targets were parsed as outcome kinds and step ids.
      const next = target as StepId;
      waiting.push({ stepId: next, facts: factsAfter(step, outcome as OutcomeKind, facts), way: [...way, next] });
    }
  }
  const unreached = [...steps.keys()].find((stepId) => !visited.has(stepId));
  return unreached === undefined ? undefined : { stepId: unreached, reason: 'no way leads to it' };
}

const nameOf = (step: SlipStep) => (step.kind === 'gate' ? 'gate' : step.does);

function whyNot(step: SlipStep, facts: Facts): string | undefined {
  const name = nameOf(step);
  const missing = wants[name]?.find((fact) => !facts.has(fact));
  if (missing !== undefined) return `it needs ${meanings[missing]}`;
  if (name !== 'remember' && facts.has('result')) return 'a run that has its result is only remembered';
  return undefined;
}

function factsAfter(step: SlipStep, outcome: OutcomeKind, before: Facts): Facts {
  const edge = `${nameOf(step)}/${outcome}`;
  const facts = new Set(before);
  if (nameOf(step) === 'build') for (const fact of ['approval', 'candidate'] as const) facts.delete(fact);
  for (const fact of takes[edge] ?? []) facts.delete(fact);
  for (const fact of gives[edge] ?? []) facts.add(fact);
  return facts;
}
