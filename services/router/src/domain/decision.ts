import type { stepRequests } from '@flotilla/contracts/catalogue';
import type { Change } from '@flotilla/contracts/change';
import type { MessageOf } from '@flotilla/contracts/define-message';
import type { GateDecided, RunEnded } from '@flotilla/contracts/events/run-events';
import type { GateId, Principal, StepId } from '@flotilla/contracts/ids';
import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import type { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { Verb } from '@flotilla/contracts/verbs';
import type { z } from 'zod';
import type { RunState } from './run-state.ts';

/** What happened to a run. */
export type RunEvent =
  | { readonly kind: 'accepted'; readonly entry: NewLogEntry }
  | { readonly kind: 'stepCompleted'; readonly completion: StepCompleted }
  | {
      readonly kind: 'gateDecided';
      readonly gateId: GateId;
      readonly decision: z.output<typeof GateDecided.payload>['decision'];
      readonly by: Principal;
      readonly commit: string;
      readonly comment?: string;
    }
  | { readonly kind: 'turnGranted' }
  | { readonly kind: 'cancelRequested'; readonly by: Principal; readonly reason?: string; readonly atWork: boolean }
  | { readonly kind: 'deadlinePassed'; readonly atWork: boolean };

/** Whose turn it is on the run's lane: its own counts as free. */
export type Turn = { readonly kind: 'free' } | { readonly kind: 'behind'; readonly runId: string };

export type StepRequest = { readonly [V in Verb]: MessageOf<(typeof stepRequests)[V]> }[Verb];

export type GateChange =
  | {
      readonly kind: 'open';
      readonly gateId: GateId;
      readonly stepId: StepId;
      readonly question: string;
      readonly change: Change;
    }
  | { readonly kind: 'decided'; readonly payload: z.output<typeof GateDecided.payload> }
  | { readonly kind: 'withdrawn'; readonly gateId: GateId };

/** What follows from an event; carried out in one transaction. */
export interface Advance {
  readonly kind: 'advanced';
  readonly run: RunState;
  readonly entries: readonly NewLogEntry[];
  readonly requests: readonly StepRequest[];
  readonly gates: readonly GateChange[];
  readonly lane: 'take' | 'release' | 'keep';
  readonly ended?: z.output<typeof RunEnded.payload>;
}

/** The event is of a time that is over: nothing is written. */
export interface Ignored {
  readonly kind: 'ignored';
  readonly reason:
    'ended' | 'another_step' | 'another_attempt' | 'another_gate' | 'not_waiting' | 'at_work' | 'not_due';
}

export type Decision = Advance | Ignored;
