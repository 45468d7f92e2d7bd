import type { MortalProcess } from '@flotilla/testing/crash-points/mortal-process';
import type { EndState } from './crash-end-state.fixture.ts';

interface JournalEntry {
  readonly step: string;
  readonly attempt: number;
  readonly type: string;
  readonly payload: { readonly turn?: number; readonly callId?: string };
}

/**
 * The end of an agent's step. How it came there may differ: a call that was interrupted is told to the model, which then says something
 * more. But no call runs twice, no turn has two answers, and only the answer that died with the process is asked for again.
 */
export function judgeAgentStep(state: EndState, mortal: MortalProcess, asked: number) {
  const log = state.log as readonly JournalEntry[]; // as the end state reads it
  const journal = log.filter(({ type }) => isOfAgent(type));
  const turns = journal.filter(({ type }) => type === 'agent.turn').length;
  return {
    ...state,
    log: log.filter(({ type }) => !isOfAgent(type)),
    outbox: state.outbox.map((row) => withoutSpent(row)),
    twice: findTwice(journal, ['agent.turn', 'tool.started', 'tool.finished']),
    askedInVain: asked - turns > (diedOfAnAnswer(mortal) ? 1 : 0) ? `${asked} for ${turns} turns` : undefined,
  };
}

function isOfAgent(type: string): boolean {
  return type.startsWith('agent.') || type.startsWith('tool.');
}

function findTwice(journal: readonly JournalEntry[], types: readonly string[]): readonly string[] {
  const occasions = journal
    .filter(({ type }) => types.includes(type))
    .map(({ step, attempt, type, payload }) => `${step}/${attempt} ${type} ${payload.callId ?? payload.turn}`);
  return occasions.filter((occasion, place) => occasions.indexOf(occasion) !== place);
}

/** The answer had come, or was about to, and the log did not have it. */
function diedOfAnAnswer({ dead, calls }: MortalProcess): boolean {
  const answered = calls.lastIndexOf('model.stream');
  return (
    dead && answered >= 0 && calls.slice(answered + 1).filter((call) => call === 'store.grouped.journal').length <= 1
  );
}

function withoutSpent(row: unknown): unknown {
  return JSON.parse(JSON.stringify(row, (key, value: unknown) => (key === 'spent' ? undefined : value)));
}
