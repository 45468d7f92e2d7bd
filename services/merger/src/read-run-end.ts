import { RunEnded } from '@flotilla/contracts/events/run-events';
import type { RunId } from '@flotilla/contracts/ids';
import { readEvent } from '@flotilla/contracts/log-entry';
import type { Store } from '@flotilla/store/store';
import type { RunEnd } from './domain/judge-pins.ts';

/** How a run ended, as its log tells; undefined while it is under way, and of a run without a log. */
export async function readRunEnd(store: Pick<Store, 'readLog'>, runId: RunId): Promise<RunEnd | undefined> {
  const [entry] = await store.readLog(runId, { types: [RunEnded.type], limit: 1 });
  const ended = entry === undefined ? undefined : readEvent(entry, RunEnded);
  return entry === undefined || ended === undefined ? undefined : { result: ended.result, at: entry.at };
}
