import type { RunDecision } from '@flotilla/contracts/calls/show-run';
import { GateDecided } from '@flotilla/contracts/events/run-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that tell of decisions. */
export const decisionTypes: readonly string[] = [GateDecided.type];

/** What people decided at the gates of a run, in the order of its log. */
export function listDecisions(entries: readonly LogEntry[]): RunDecision[] {
  return entries.flatMap((entry) => {
    const decided = readEvent(entry, GateDecided);
    return decided === undefined ? [] : [{ ...decided, at: entry.at }];
  });
}
