import type { OutcomeKind } from '@flotilla/contracts/outcome';
import type { Verb } from '@flotilla/contracts/verbs';

/** Verbs that let a model work: only these take grants and an allowance. */
export const agentVerbs = ['plan', 'build', 'review', 'remember'] as const satisfies readonly Verb[];

/** What a verb answers when it went as such work goes; a topology must say where each leads. */
export const outcomesOfVerb: Readonly<Record<Verb, readonly OutcomeKind[]>> = {
  open: ['done'],
  setup: ['done'],
  plan: ['done'],
  build: ['done', 'no_changes'],
  review: ['done', 'changes_requested'],
  verify: ['done', 'changes_requested'],
  land: ['done', 'no_changes', 'conflict', 'unverified', 'parked'],
  remember: ['done'],
};

/** What any verb may answer besides; without an edge it ends the run. A cancelled step always does. */
export const troublesOfAnyVerb: readonly OutcomeKind[] = ['failed', 'limit_reached'];

/** A person approves (`done`) or requests changes; declining always ends the run. */
export const outcomesOfGate: readonly OutcomeKind[] = ['done', 'changes_requested'];
