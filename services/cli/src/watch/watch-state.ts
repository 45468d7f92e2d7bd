import type { LogEvent } from '@flotilla/contracts/calls/log-event';
import type { WatchEvent } from '@flotilla/contracts/calls/watch-run';
import { CheckRan, StepStarted } from '@flotilla/contracts/events/step-events';
import { ToolFinished, ToolStarted } from '@flotilla/contracts/events/journal-events';
import {
  GateDecided,
  GateOpened,
  RunEnded,
  StepCompletedEvent,
  StepRequestedEvent,
} from '@flotilla/contracts/events/run-events';
import { readEvent } from '@flotilla/contracts/log-entry';
import type { GateId } from '@flotilla/contracts/ids';
import type { ProposedChange } from '@flotilla/contracts/calls/shapes';

/** What a watcher knows of a run just now. */
export interface WatchState {
  /** When the first event came about; times are told from here. */
  readonly beganAt?: string;
  /** The step that is asked for or at work. */
  readonly step?: { readonly name: string; readonly since: string };
  /** When the step that was begun last was begun first; also after it has ended. */
  readonly begun?: { readonly name: string; readonly at: string };
  /** The tool call that runs. */
  readonly call?: string;
  /** What the model and setup said and programs printed last, in blocks between form feeds. */
  readonly tail?: string;
  readonly gate?: {
    readonly gateId: GateId;
    readonly question: string;
    readonly change: Pick<ProposedChange, 'commit' | 'files'>;
  };
  readonly ended: boolean;
}

export const startOfWatch: WatchState = { ended: false };

export function foldWatch(state: WatchState, event: WatchEvent): WatchState {
  switch (event.event) {
    case 'live':
      return withWords(state, event.text);
    case 'done':
      return { ended: true, ...(state.beganAt === undefined ? {} : { beganAt: state.beganAt }) };
    case 'entry':
      return foldEntry({ beganAt: event.entry.at, ...state }, event.entry);
  }
}

function foldEntry(state: WatchState, entry: LogEvent): WatchState {
  const { call: _, step, tail, ...rest } = state;
  if (readEvent(entry, StepRequestedEvent) !== undefined) {
    return { ...rest, step: { name: nameStep(entry), since: entry.at } };
  }
  if (readEvent(entry, StepCompletedEvent) !== undefined) return rest;
  if (readEvent(entry, StepStarted) !== undefined && stepBeganAt(state, entry) === undefined) {
    return { ...state, begun: { name: nameStep(entry), at: entry.at } };
  }
  const opened = readEvent(entry, GateOpened);
  if (opened !== undefined) return { ...rest, gate: opened };
  const { gate: _gate, ...without } = rest;
  // No step is at work in a run that ended, whether or not it said so.
  if (readEvent(entry, RunEnded) !== undefined) return without;
  if (readEvent(entry, GateDecided) !== undefined) return { ...without, ...(step === undefined ? {} : { step }) };
  const kept = { ...rest, ...(step === undefined ? {} : { step }), ...(tail === undefined ? {} : { tail }) };
  const started = readEvent(entry, ToolStarted);
  if (started !== undefined) return { ...kept, call: `${started.tool} ${started.summary}` };
  const finished = readEvent(entry, ToolFinished);
  if (finished !== undefined) return withPrinted(kept, finished.result);
  const check = readEvent(entry, CheckRan);
  return check === undefined ? state : withPrinted(kept, check.output);
}

/** When the step of an entry was begun, where the watch has seen it. */
export function stepBeganAt({ begun }: WatchState, entry: LogEvent): string | undefined {
  return begun?.name === nameStep(entry) ? begun.at : undefined;
}

/** `build`, or `build (2)` for a later attempt. */
export function nameStep({ stepId, attempt }: Pick<LogEvent, 'stepId' | 'attempt'>): string {
  if (stepId === undefined) return '';
  return attempt === undefined || attempt === 1 ? stepId : `${stepId} (${attempt})`;
}

const keptSigns = 4_000;

/** Words come in pieces, and a form feed begins a turn. Of many the end is kept. */
function withWords(state: WatchState, text: string): WatchState {
  return { ...state, tail: `${state.tail ?? ''}${text}`.slice(-keptSigns) };
}

/** The last line of what a program printed; words that follow are a block of their own. */
function withPrinted(state: WatchState, output: string): WatchState {
  const last = output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .at(-1);
  return last === undefined ? state : { ...state, tail: `${last.slice(-500)}\f` };
}

/** The block that is shown: the last one with something to show. */
export function blockInSight({ tail = '' }: Pick<WatchState, 'tail'>): string {
  return (
    tail
      .split('\f')
      .filter((block) => block.trim() !== '')
      .at(-1) ?? ''
  );
}
