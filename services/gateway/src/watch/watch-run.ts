import type { RunId } from '@flotilla/contracts/ids';
import type { RunResult } from '@flotilla/contracts/events/run-events';
import type { CommitId } from '@flotilla/contracts/ids';
import { frameEvent } from '../domain/frame-event.ts';
import type { RunTail } from './run-tail.ts';

/** The client's end of a stream. */
export interface Outlet {
  /** Resolves when the client can take more; throws when it does not in time or has gone. */
  write(frames: string | Buffer): Promise<void>;
  /** Sends at once or drops: for what need not arrive. */
  offer(frames: string): void;
}

export interface Watch {
  readonly runId: RunId;
  readonly after: number;
  /** Sequence of the newest entry when the watch began; the stream does not end before it was sent. */
  readonly last: number;
  readonly live: boolean;
  /** How the run ended, where it had before the watch began. */
  readonly ended?: RunEnd | undefined;
}

export interface RunEnd {
  readonly result: RunResult;
  readonly commit?: CommitId | undefined;
}

/**
 * Sends the log after a cursor, page by page, each entry once and in order, and goes on as it grows. Ends with `done` when
 * the run has ended and nothing is left to send, or without it when the signal aborts.
 */
export async function watchRun(watch: Watch, tail: RunTail, outlet: Outlet, signal: AbortSignal): Promise<void> {
  const { runId } = watch;
  let cursor = watch.after;
  let ended = watch.ended;
  let caughtUp = false;
  const stopLive = watch.live
    ? tail.onLive((frame) => {
        if (caughtUp) outlet.offer(frame);
      })
    : () => undefined;
  try {
    while (!signal.aborted) {
      const seen = tail.wakes;
      const page = await tail.readPage(cursor);
      ended = page.ended ?? ended;
      caughtUp = page.empty;
      if (!page.empty) {
        await outlet.write(page.bytes);
        cursor = page.last;
      } else if (cursor < watch.last) {
        // Another watcher's page, read before the entry that this watch knows of was committed.
        tail.wake();
      } else if (ended !== undefined) {
        await outlet.write(frameEvent({ event: 'done', runId, result: ended.result, ...commitOf(ended) }));
        return;
      } else {
        await tail.nextWake(seen, signal);
      }
    }
  } finally {
    stopLive();
  }
}

function commitOf({ commit }: RunEnd): { readonly commit?: CommitId } {
  return commit === undefined ? {} : { commit };
}
