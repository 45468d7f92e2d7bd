import type { StepId } from '@flotilla/contracts/ids';
import type { OutcomeKind } from '@flotilla/contracts/outcome';
import type { Slip } from './slip.ts';
import { END } from './topology.ts';

/** How often each step was visited so far; a step that is not listed was not. */
export type Visits = Readonly<Record<string, number>>;

export type Next =
  | { readonly kind: 'step'; readonly stepId: StepId }
  | { readonly kind: 'gate'; readonly stepId: StepId }
  /** The slip says that the run is over. */
  | { readonly kind: 'end' }
  /** The slip has no edge for this outcome: the run ends by it. */
  | { readonly kind: 'stopped' }
  /** The next step may not be taken any more. `limit` is `steps` or `visits of <step>`. */
  | { readonly kind: 'exhausted'; readonly limit: string };

/**
 * Where a run goes after a step ended. Total: an outcome without an edge stops the run and is never guessed.
 * `visits` counts every step taken, the one that ended too.
 */
export function nextStep(slip: Slip, stepId: StepId, outcome: OutcomeKind, visits: Visits): Next {
  const target = slip.steps[stepId]?.on[outcome];
  if (target === undefined || outcome === 'cancelled') return { kind: 'stopped' };
  if (target === END) return { kind: 'end' };
  // Targets are step ids, or the document would not have compiled.
  const next = target as StepId;
  const step = slip.steps[next];
  if (step === undefined) return { kind: 'stopped' };
  const taken = Object.values(visits).reduce((sum, count) => sum + count, 0);
  if (taken >= slip.maxSteps) return { kind: 'exhausted', limit: 'steps' };
  if (step.kind === 'gate') return { kind: 'gate', stepId: next };
  if ((visits[next] ?? 0) >= step.visits) return { kind: 'exhausted', limit: `visits of ${next}` };
  return { kind: 'step', stepId: next };
}
