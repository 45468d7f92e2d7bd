import { addSpent, nothingSpent, type Spent } from '@flotilla/contracts/allowance';
import {
  AgentFinished,
  AgentNudged,
  CheckpointTaken,
  FinishRefused,
  journalEvents,
  ToolDecided,
  ToolFinished,
  ToolStarted,
  TurnBroken,
  TurnTaken,
  type ToolCallMade,
} from '@flotilla/contracts/events/journal-events';
import { readEvent } from '@flotilla/contracts/log-entry';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { z } from 'zod';
import { finishId } from './tools/finish.ts';

type Finished = z.output<typeof ToolFinished.payload>;

export interface CallFacts extends ToolCallMade {
  readonly decided: boolean;
  readonly started: boolean;
  readonly finished?: Finished;
}

export interface TurnFacts {
  readonly turn: number;
  readonly text: string;
  readonly finish: string;
  readonly calls: readonly CallFacts[];
  /** What the loop told the model after this turn, in order. */
  readonly nudges: readonly Nudge[];
}

export interface Nudge {
  readonly code: string;
  readonly text: string;
}

/** What the journal tells: all that another process needs to go on. */
export interface JournalFacts {
  readonly turns: readonly TurnFacts[];
  /** Told before the first turn. */
  readonly opening: readonly Nudge[];
  readonly spent: Spent;
  readonly finishRefusals: number;
  /** A file was changed, as far as the last checkpoint and the calls since then tell. */
  readonly modified: boolean;
  /** The tests passed, and no call since then may have changed a file. */
  readonly tested: boolean;
  /** Ids of calls that may have changed a file since the last checkpoint. */
  readonly unkept: readonly string[];
  /** How many of those the workspace held when it could not be kept; 0 where it could. */
  readonly unkeepable: number;
  readonly end?: z.output<typeof AgentFinished.payload>;
}

interface Draft {
  turns: (Omit<TurnFacts, 'calls' | 'nudges'> & { calls: CallFacts[]; nudges: Nudge[] })[];
  opening: Nudge[];
  spent: Spent;
  finishRefusals: number;
  modified: boolean;
  tested: boolean;
  unkept: string[];
  keptModified: boolean;
  unkeepable: number;
  end?: z.output<typeof AgentFinished.payload>;
}

/** The workspace was laid anew from the last checkpoint: what came after it is not in it. */
export const restoredCode = 'WORKSPACE_RESTORED';
/** The call was begun by a process that died: nobody saw its end. */
export const interruptedCode = 'INTERRUPTED';
/** The workspace could not be kept as it is: the last checkpoint stands. */
export const notKeptCode = 'WORKSPACE_NOT_KEPT';
export const testRunId = 'test.run';

/** Derives everything from the entries alone; the same entries give the same facts. */
export class JournalView {
  readonly #draft: Draft = {
    turns: [],
    opening: [],
    spent: nothingSpent,
    finishRefusals: 0,
    modified: false,
    tested: false,
    unkept: [],
    keptModified: false,
    unkeepable: 0,
  };

  /** Takes the next entries, in order; those of other types are passed over. Throws JOURNAL_UNREADABLE. */
  add(entries: readonly { readonly type: string; readonly payload: unknown }[]): void {
    for (const entry of entries) readEntry(this.#draft, entry);
  }

  /** Of all entries so far. */
  get facts(): JournalFacts {
    return this.#draft;
  }
}

function readEntry(draft: Draft, entry: { readonly type: string; readonly payload: unknown }): void {
  const turn = readEvent(entry, TurnTaken);
  if (turn !== undefined) return takeTurn(draft, turn);
  const broken = readEvent(entry, TurnBroken);
  if (broken !== undefined) {
    draft.spent = addSpent(draft.spent, broken.spent);
    return;
  }
  const decided = readEvent(entry, ToolDecided);
  if (decided !== undefined) {
    const again = findCall(draft, decided.callId)?.decided === true;
    draft.spent = addSpent(draft.spent, { ...nothingSpent, calls: again || decided.tool === finishId ? 0 : 1 });
    return updateCall(draft, decided.callId, { decided: true });
  }
  const started = readEvent(entry, ToolStarted);
  if (started !== undefined) return updateCall(draft, started.callId, { started: true });
  const finished = readEvent(entry, ToolFinished);
  if (finished !== undefined) return finishCall(draft, finished);
  const checkpoint = readEvent(entry, CheckpointTaken);
  if (checkpoint !== undefined) {
    draft.modified = draft.keptModified = checkpoint.tree !== null;
    draft.unkept = [];
    draft.unkeepable = 0;
    return;
  }
  const nudge = readEvent(entry, AgentNudged);
  if (nudge !== undefined) return takeNudge(draft, nudge);
  const refused = readEvent(entry, FinishRefused);
  if (refused !== undefined) {
    draft.finishRefusals += 1;
    return;
  }
  const end = readEvent(entry, AgentFinished);
  if (end !== undefined) {
    draft.end = end;
    return;
  }
  const known = journalEvents.find(({ type }) => type === entry.type);
  const problem = known?.payload.safeParse(entry.payload).error;
  if (problem !== undefined)
    throw new FlotillaError(errors.journalUnreadable, { type: entry.type, reason: problem.message });
}

function takeTurn(draft: Draft, turn: z.output<typeof TurnTaken.payload>): void {
  draft.turns.push({
    turn: turn.turn,
    text: turn.text,
    finish: turn.finish,
    calls: turn.calls.map((call) => ({ ...call, decided: false, started: false })),
    nudges: [],
  });
  draft.spent = addSpent(draft.spent, turn.spent);
}

function finishCall(draft: Draft, finished: Finished): void {
  updateCall(draft, finished.callId, { finished });
  draft.spent = addSpent(draft.spent, { ...nothingSpent, seconds: finished.durationMs / 1000 });
  if (finished.changedFiles) {
    draft.modified = true;
    draft.tested = false;
    draft.unkept.push(finished.callId);
  }
  if (finished.tool === testRunId && finished.ok) draft.tested = finished.exitCode === 0;
}

function takeNudge(draft: Draft, nudge: Nudge): void {
  (draft.turns.at(-1)?.nudges ?? draft.opening).push({ code: nudge.code, text: nudge.text });
  if (nudge.code === notKeptCode) draft.unkeepable = draft.unkept.length;
  if (nudge.code !== restoredCode) return;
  draft.modified = draft.keptModified;
  draft.tested = false;
  draft.unkept = [];
  draft.unkeepable = 0;
}

function findCall(draft: Draft, callId: string): CallFacts | undefined {
  return draft.turns.flatMap(({ calls }) => calls).findLast((call) => call.callId === callId);
}

function updateCall(draft: Draft, callId: string, change: Partial<CallFacts>): void {
  for (const turn of draft.turns.toReversed()) {
    const index = turn.calls.findIndex((call) => call.callId === callId);
    const call = turn.calls[index];
    if (call === undefined) continue;
    turn.calls[index] = { ...call, ...change };
    return;
  }
}
