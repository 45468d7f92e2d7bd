import type { RunState as PublishedState } from '@flotilla/contracts/calls/shapes';
import type { RunEnded } from '@flotilla/contracts/events/run-events';
import type { z } from 'zod';
import { laneOf, type RunState } from '../domain/run-state.ts';

/** The columns of a run that change as it moves, made of its facts. */
export function runColumns(run: RunState, ended?: z.output<typeof RunEnded.payload>) {
  const { position, known } = run;
  const at = position === undefined || position.kind === 'ended' ? undefined : position;
  return {
    state: publishedState(run),
    stepId: at?.stepId ?? null,
    attempt: at?.kind === 'step' ? at.attempt : null,
    gateId: at?.kind === 'gate' ? at.gateId : null,
    lane: laneOf(run) ?? null,
    waitingSince: at?.kind === 'turn' ? new Date(at.since) : null,
    requestedAt: at?.kind === 'step' ? new Date(at.requestedAt) : null,
    deadlineAt: new Date(run.deadline),
    result: position?.kind === 'ended' ? position.result : null,
    commit: known.landed?.commit ?? null,
    branch: known.branch ?? null,
    code: ended?.code ?? null,
    message: textColumn(ended?.message),
    advice: textColumn(ended?.advice),
    spent: run.spent,
    facts: run,
    endedAt: position?.kind === 'ended' ? new Date(position.at) : null,
  };
}

/** A text column takes everything but U+0000. */
export function textColumn<Text extends string | undefined>(text: Text): Text extends string ? string : string | null {
  // The conditional type follows the argument, which the compiler cannot see through.
  return (text === undefined ? null : text.replaceAll('\u0000', '\ufffd')) as Text extends string
    ? string
    : string | null;
}

export function publishedState({ position, cancel }: Pick<RunState, 'position' | 'cancel'>): PublishedState {
  switch (position?.kind) {
    case undefined:
    case 'step':
      return cancel === undefined ? 'running' : 'cancelling';
    case 'gate':
      return 'at_gate';
    case 'turn':
      return 'awaiting_turn';
    case 'ended':
      return 'ended';
  }
}
