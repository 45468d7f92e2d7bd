import type { Allowance, Spent } from '@flotilla/contracts/allowance';
import { errors } from '@flotilla/errors/catalogue';
import type { ErrorDefinition } from '@flotilla/errors/flotilla-error';
import type { Limit } from './agent-outcome.ts';
import type { AgentSettings } from './agent-settings.ts';
import { findNear, findReached } from './check-limits.ts';
import { countRepetitions } from './find-repetition.ts';
import { findFailure, findTrouble } from './find-trouble.ts';
import type { CallFacts, JournalFacts, Nudge, TurnFacts } from './journal-facts.ts';
import { finishId } from './tools/finish.ts';

/** `required`: without passing tests the work has no result; `auto`: it has one, marked unverified; `off`: nobody asks. */
export type Verification = 'off' | 'auto' | 'required';

export interface Situation {
  readonly facts: JournalFacts;
  readonly allowance: Allowance;
  /** What the journal shows, with the time of this process. */
  readonly spent: Spent;
  readonly cancelled: boolean;
  readonly steering: readonly string[];
  readonly settings: AgentSettings;
  /** Whether this step can keep its workspace. */
  readonly checkpoints: boolean;
  readonly verification: Verification;
}

export type NextMove =
  | { readonly kind: 'askModel'; readonly turn: number }
  /** `interrupted`: it was started by a process that died, so it is told and never repeated. */
  | { readonly kind: 'runCall' | 'tellInterrupted'; readonly call: CallFacts }
  | { readonly kind: 'checkpoint'; readonly turn: number }
  | { readonly kind: 'nudge'; readonly nudge: Nudge }
  | { readonly kind: 'end'; readonly end: LoopEnd };

export type LoopEnd =
  | { readonly kind: 'finished'; readonly call: CallFacts }
  | { readonly kind: 'limit_reached'; readonly limit: Limit }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly failure: ErrorDefinition };

/** The loop's one decision: from what happened so far to what happens next. */
export function decideNext(situation: Situation): NextMove {
  const last = situation.facts.turns.at(-1);
  return (last === undefined ? undefined : afterTurn(situation, last)) ?? beforeTurn(situation, last);
}

/** What the last turn still wants: its calls, in order, then a checkpoint of what they changed. */
function afterTurn(situation: Situation, last: TurnFacts): NextMove | undefined {
  const interrupted = last.calls.find((call) => call.started && call.finished === undefined);
  if (interrupted !== undefined) return { kind: 'tellInterrupted', call: interrupted };
  const accepted = last.calls.find((call) => call.tool === finishId && call.finished?.ok === true);
  const next = accepted === undefined ? last.calls.find((call) => call.finished === undefined) : undefined;
  const pending = next !== undefined && mayRun(situation, next) ? next : undefined;
  const unkept = situation.checkpoints && situation.facts.unkept.length > situation.facts.unkeepable;
  if (unkept && (pending === undefined || pending.tool === finishId)) return { kind: 'checkpoint', turn: last.turn };
  if (accepted !== undefined) return { kind: 'end', end: { kind: 'finished', call: accepted } };
  return pending === undefined ? undefined : { kind: 'runCall', call: pending };
}

/** What a turn asked for is done even where it was the last turn; only a lack of calls or time stops it. */
function mayRun({ cancelled, allowance, spent }: Situation, call: CallFacts): boolean {
  if (cancelled) return false;
  return call.tool === finishId || (spent.calls < allowance.calls && spent.seconds < allowance.seconds);
}

function beforeTurn(situation: Situation, last: TurnFacts | undefined): NextMove {
  const { facts, settings } = situation;
  if (situation.cancelled) return { kind: 'end', end: { kind: 'cancelled' } };
  if (situation.verification === 'required' && facts.finishRefusals >= settings.fixCycles)
    return { kind: 'end', end: { kind: 'limit_reached', limit: 'fix_cycles' } };
  const failure = findFailure(facts, settings.troubledTurns) ?? findEndlessRepetition(situation);
  if (failure !== undefined) return { kind: 'end', end: { kind: 'failed', failure } };
  const limit = findReached(situation.allowance, situation.spent);
  if (limit !== undefined) return { kind: 'end', end: { kind: 'limit_reached', limit } };
  const nudge = findNudge(situation, last);
  if (nudge !== undefined) return { kind: 'nudge', nudge };
  return { kind: 'askModel', turn: (last?.turn ?? 0) + 1 };
}

function findEndlessRepetition({ facts, settings }: Situation): ErrorDefinition | undefined {
  return countRepetitions(facts) >= settings.repetitionsMost ? errors.agentRepeatsItself : undefined;
}

/** The next thing to tell before the model is asked again; each is told once at its place. */
function findNudge(
  { facts, allowance, spent, steering, settings }: Situation,
  last: TurnFacts | undefined,
): Nudge | undefined {
  const all = [...facts.opening, ...facts.turns.flatMap((turn) => turn.nudges)];
  const heard = all.filter(({ code }) => code === 'STEERED').length;
  const said = steering[heard];
  if (said !== undefined) return { code: 'STEERED', text: said };
  const here = last?.nudges.map(({ code }) => code) ?? [];
  const trouble = last === undefined ? undefined : findTrouble(last)?.nudge;
  if (trouble !== undefined && !here.includes(trouble.code)) return trouble;
  if (countRepetitions(facts) >= settings.repetitionsNudged && !here.includes('CALL_REPEATED'))
    return {
      code: 'CALL_REPEATED',
      text: 'You made the same call several times and nothing had changed between. Its answer will not change; do something else.',
    };
  return findNear(allowance, spent).find(({ code }) => !all.some((nudge) => nudge.code === code));
}
