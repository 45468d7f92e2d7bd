import type { ShowDiff } from '@flotilla/contracts/calls/show-diff';
import type { Change } from '@flotilla/contracts/change';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import { GateOpened } from '@flotilla/contracts/events/run-events';
import { ChangeCaptured, ChangeLanded, ChangeMerged } from '@flotilla/contracts/events/step-events';
import type { RunId } from '@flotilla/contracts/ids';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that carry a diff or say which one is meant. */
export const diffTypes: readonly string[] = [
  ChangeCaptured.type,
  ChangeMerged.type,
  GateOpened.type,
  ChangeLanded.type,
];

type Diff = ResponseOf<typeof ShowDiff>;

interface Proposal {
  readonly change: Change;
  readonly diff: string;
  readonly diffTruncated: boolean;
}

/** What landed where something did, else the commit that a person is asked about, else what was captured last. */
export function chooseDiff(runId: RunId, entries: readonly LogEntry[]): Diff {
  let captured: (Proposal & { readonly summary: string }) | undefined;
  let asked: Change | undefined;
  const proposals = new Map<string, Proposal>();
  for (const entry of entries) {
    const proposal = readEvent(entry, ChangeCaptured);
    if (proposal !== undefined) [captured, asked] = [proposal, undefined];
    const made = proposal ?? readEvent(entry, ChangeMerged);
    if (made !== undefined) proposals.set(made.change.commit, made);
    asked = readEvent(entry, GateOpened)?.change ?? asked;
  }
  const summary = captured === undefined ? {} : { summary: captured.summary };
  const landed = entries.flatMap((entry) => readEvent(entry, ChangeLanded) ?? []).at(-1);
  if (landed !== undefined) {
    const { previous: base, commit, diff, diffTruncated: truncated } = landed;
    const { files } = (proposals.get(commit) ?? captured)?.change ?? { files: [] };
    return { runId, state: 'landed', base, commit, files, ...summary, diff, truncated };
  }
  const shown = asked === undefined ? captured : (proposals.get(asked.commit) ?? withoutDiff(asked));
  if (shown === undefined) return { runId, state: 'none', files: [], diff: '', truncated: false };
  const { change, diff, diffTruncated: truncated } = shown;
  const { base, commit, files } = change;
  return { runId, state: 'proposed', base, commit, files, ...summary, diff, truncated };
}

/** Another commit's diff is never shown in the place of one that the log lacks. */
function withoutDiff(change: Change): Proposal {
  return { change, diff: '', diffTruncated: true };
}
