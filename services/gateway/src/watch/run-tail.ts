import type { RunId } from '@flotilla/contracts/ids';
import { RunEnded } from '@flotilla/contracts/events/run-events';
import { type LogEntry, readEvent } from '@flotilla/contracts/log-entry';
import type { Store } from '@flotilla/store/store';
import { describeEntry } from '../domain/describe-entry.ts';
import { frameEvent } from '../domain/frame-event.ts';

/** Tells of a run over the broker; both may be lost, which costs time only. */
export interface RunNews {
  readonly onAdvanced: () => void;
  readonly onLive: (text: string) => void;
}

export interface TailPorts {
  readonly readLog: Store['readLog'];
  /** Returns how to stop listening. */
  readonly subscribe: (runId: RunId, news: RunNews) => () => void;
  /** Calls back every so many milliseconds until stopped. */
  readonly every: (delayMs: number, tick: () => void) => () => void;
}

/** Entries after a cursor, as the bytes that every watcher at that cursor is sent. */
export interface Page {
  readonly bytes: Buffer;
  /** Sequence of the last entry; the cursor itself where there was none. */
  readonly last: number;
  readonly empty: boolean;
  readonly ended?: ReturnType<typeof readEnd>;
}

/** Read when the broker is silent, so that a lost wake-up costs a second. */
const POLL_MS = 1_000;
const pageSize = 100;
const sharedPages = 16;

/** What all watchers of one run share: one subscription, one poll, and one read of each page. */
export class RunTail {
  readonly #runId: RunId;
  readonly #ports: TailPorts;
  readonly #pages = new Map<number, Promise<Page>>();
  readonly #sleepers = new Set<() => void>();
  readonly #live = new Set<(frame: string) => void>();
  readonly #stops: readonly (() => void)[];
  #wakes = 0;

  constructor(runId: RunId, ports: TailPorts) {
    this.#runId = runId;
    this.#ports = ports;
    const onAdvanced = () => this.wake();
    const onLive = (text: string) => {
      const frame = frameEvent({ event: 'live', runId, text });
      for (const listener of this.#live) listener(frame);
    };
    this.#stops = [ports.subscribe(runId, { onAdvanced, onLive }), ports.every(POLL_MS, onAdvanced)];
  }

  /** Counts wake-ups; read it before a page, and a wake-up during the read is not missed. */
  get wakes(): number {
    return this.#wakes;
  }

  /** Shared by all who ask until the next wake-up: what was read before it may lack what it announces. */
  readPage(after: number): Promise<Page> {
    const shared = this.#pages.get(after);
    if (shared !== undefined) return shared;
    const page = this.#read(after);
    if (this.#pages.size >= sharedPages) this.#pages.clear();
    this.#pages.set(after, page);
    // A read that failed is tried again by whoever asks next.
    page.catch(() => {
      if (this.#pages.get(after) === page) this.#pages.delete(after);
    });
    return page;
  }

  /** Resolves at the first wake-up after the one counted as `seen`, or when the signal aborts. */
  nextWake(seen: number, signal: AbortSignal): Promise<void> {
    if (this.#wakes !== seen || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#sleepers.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#sleepers.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /** Gives each frame of live words, made once for all watchers. */
  onLive(listener: (frame: string) => void): () => void {
    this.#live.add(listener);
    return () => void this.#live.delete(listener);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.wake();
  }

  /** The log may have grown: pages are read anew, and whoever sleeps looks. */
  wake(): void {
    this.#wakes += 1;
    this.#pages.clear();
    for (const sleeper of [...this.#sleepers]) sleeper();
  }

  async #read(after: number): Promise<Page> {
    const entries = await this.#ports.readLog(this.#runId, { after, limit: pageSize });
    const frames = entries.map((entry) => frameEvent({ event: 'entry', entry: describeEntry(entry) }));
    const end = entries.map(readEnd).find((found) => found !== undefined);
    return {
      bytes: Buffer.from(frames.join('')),
      last: entries.at(-1)?.sequence ?? after,
      empty: entries.length === 0,
      ...(end === undefined ? {} : { ended: end }),
    };
  }
}

function readEnd(entry: LogEntry) {
  const ended = readEvent(entry, RunEnded);
  return ended === undefined ? undefined : { result: ended.result, commit: ended.commit };
}
