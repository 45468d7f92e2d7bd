import type { ShowDiff } from '@flotilla/contracts/calls/show-diff';
import type { ResponseOf } from '@flotilla/contracts/define-call';
import { ChangeCaptured, ChangeLanded } from '@flotilla/contracts/events/step-events';
import type { RunId } from '@flotilla/contracts/ids';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';

/** Types of entries that carry a diff. */
export const diffTypes: readonly string[] = [ChangeCaptured.type, ChangeLanded.type];

/** What landed where something did, else what was captured last. */
export function chooseDiff(runId: RunId, entries: readonly LogEntry[]): ResponseOf<typeof ShowDiff> {
  const captured = entries.flatMap((entry) => readEvent(entry, ChangeCaptured) ?? []).at(-1);
  const landed = entries.flatMap((entry) => readEvent(entry, ChangeLanded) ?? []).at(-1);
  const proposal = captured === undefined ? { files: [] } : { files: captured.change.files, summary: captured.summary };
  if (landed !== undefined) {
    const { previous: base, commit, diff, diffTruncated: truncated } = landed;
    return { runId, state: 'landed', base, commit, ...proposal, diff, truncated };
  }
  if (captured === undefined) return { runId, state: 'none', files: [], diff: '', truncated: false };
  const { change, diff, diffTruncated: truncated } = captured;
  return { runId, state: 'proposed', base: change.base, commit: change.commit, ...proposal, diff, truncated };
}
