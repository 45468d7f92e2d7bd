import { addSpent, nothingSpent, type Spent } from '@flotilla/contracts/allowance';
import { AgentFinished, ToolStarted, TurnTaken } from '@flotilla/contracts/events/journal-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that `sumSpent` reads. */
export const spendingTypes = [TurnTaken.type, ToolStarted.type, AgentFinished.type] as const;

/** What an attempt spent, by its journal: for answers that its own work could not give. */
export function sumSpent(journal: readonly LogEntry[]): Spent {
  const finished = journal.findLast(({ type }) => type === AgentFinished.type);
  const total = finished === undefined ? undefined : readEvent(finished, AgentFinished)?.spent;
  if (total !== undefined) return total;
  return journal.reduce<Spent>((spent, entry) => {
    if (entry.type === ToolStarted.type) return { ...spent, calls: spent.calls + 1 };
    const turn = readEvent(entry, TurnTaken);
    return turn === undefined ? spent : addSpent(spent, { ...turn.spent, calls: 0 });
  }, nothingSpent);
}
