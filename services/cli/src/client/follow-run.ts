import { setTimeout as wait } from 'node:timers/promises';
import { WatchRun, type WatchEvent } from '@flotilla/contracts/calls/watch-run';
import type { RunId } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { ApiClient } from './api-client.ts';
import { readFrames } from './read-frames.ts';

export interface Following {
  readonly runId: RunId;
  readonly after?: number;
  readonly live: boolean;
  readonly signal: AbortSignal;
  /** Told when the connection broke and is tried again. */
  readonly onLost?: (error: FlotillaError) => void;
  /** Attempts in a row before giving up; default 30, about two minutes. */
  readonly attempts?: number;
}

const longestPauseMs = 5_000;

/** Every event of a run until it has ended, each once and in order, across broken connections. */
export async function* followRun(api: ApiClient, following: Following): AsyncGenerator<WatchEvent> {
  const { runId, live, signal, onLost, attempts = 30 } = following;
  let last = following.after ?? 0;
  let failures = 0;
  for (;;) {
    try {
      for await (const frame of readFrames(await api.open(WatchRun, { runId, live }, String(last)))) {
        failures = 0;
        const event = readEvent(frame.data, api.url);
        if (event.event === 'entry') last = event.entry.sequence;
        yield event;
        if (event.event === 'done') return;
      }
      throw new FlotillaError(errors.fleetUnreachable, { url: api.url, reason: 'it ended the stream' });
    } catch (error) {
      failures += 1;
      if (!(error instanceof FlotillaError) || error.remedy !== 'wait' || failures > attempts) throw error;
      onLost?.(error);
      await wait(Math.min(longestPauseMs, 250 * 2 ** failures), undefined, { signal });
    }
  }
}

function readEvent(data: string, url: string): WatchEvent {
  try {
    return WatchRun.response.parse(JSON.parse(data));
  } catch (cause) {
    throw new FlotillaError(errors.fleetAnswerUnreadable, { url, reason: 'an event has another shape' }, { cause });
  }
}
