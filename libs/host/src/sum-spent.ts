import { addSpent, nothingSpent, type Spent } from '@flotilla/contracts/allowance';
import { AgentFinished, ToolStarted, TurnBroken, TurnTaken } from '@flotilla/contracts/events/journal-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';
import type { Store } from '@flotilla/store/store';
import type { StepName } from './step-request.ts';

const entryLimit = 100_000;

/** What an attempt spent, by its journal: for answers that its own work could not give. */
export async function readSpent(store: Pick<Store, 'readLog'>, { runId, stepId, attempt }: StepName): Promise<Spent> {
  const types = [TurnTaken.type, TurnBroken.type, ToolStarted.type, AgentFinished.type];
  return sumSpent(await store.readLog(runId, { stepId, attempt, types, limit: entryLimit }));
}

/** Other entries than those of turns, calls and the end are passed over. */
export function sumSpent(journal: readonly LogEntry[]): Spent {
  const finished = journal.findLast(({ type }) => type === AgentFinished.type);
  const total = finished === undefined ? undefined : readEvent(finished, AgentFinished)?.spent;
  if (total !== undefined) return total;
  return journal.reduce<Spent>((spent, entry) => {
    if (entry.type === ToolStarted.type) return { ...spent, calls: spent.calls + 1 };
    const turn = readEvent(entry, TurnTaken) ?? readEvent(entry, TurnBroken);
    return turn === undefined ? spent : addSpent(spent, { ...turn.spent, calls: 0 });
  }, nothingSpent);
}
