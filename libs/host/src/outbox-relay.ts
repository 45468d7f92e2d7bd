import { LogAdvanced } from '@flotilla/contracts/messages/log-advanced';
import { eventsSubject } from '@flotilla/contracts/streams';
import { classify } from '@flotilla/stream/decide-settlement';
import type { OutgoingMessage } from '@flotilla/stream/publish-message';
import { markPublished, type OutboxRow, readOutboxLag, takeUnpublished } from '@flotilla/store/outbox';
import type { Committed, Store } from '@flotilla/store/store';
import type { Logger } from './create-logger.ts';

export interface OutboxRelayOptions {
  readonly store: Store;
  /** Returns once the broker has the message. */
  readonly publish: (message: OutgoingMessage) => Promise<unknown>;
  /** Sends a message that may be lost. */
  readonly announce: (message: OutgoingMessage) => void;
  /** Subjects that this process may publish. */
  readonly subjects: readonly string[];
  readonly connected: () => boolean;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  /** Default 1 s. */
  readonly sweepEveryMs?: number;
  /** Rows of others are left to them for so long. Default 2 s. */
  readonly olderThanMs?: number;
}

export interface OutboxRelay {
  /** What waits, as the last sweep saw it. */
  lag(): { readonly waiting: number; readonly oldestMs: number };
  /** Since the last sweep ended, well or not. */
  silentMs(): number;
  /** Publishes what was committed so far, as far as the broker takes it, and stops. */
  stop(): Promise<void>;
}

const batchSize = 128;

/** Publishes what this process commits at once, and what any process committed and left behind after two seconds. */
export function startOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { store, logger, sweepEveryMs = 1_000, olderThanMs = 2_000 } = options;
  const waiting: OutboxRow[] = [];
  let draining: Promise<void> | undefined;
  let sweeping: Promise<void> | undefined;
  let lag = { waiting: 0, oldestMs: 0 };
  let failing = false;
  let sweptAtMs = options.monotonicMs();

  const tellOnce = (event: string, error: unknown): void => {
    if (!failing) logger.warn({ event, code: classify(error).code, reason: classify(error).message });
    failing = true;
  };
  const publishBatch = async (rows: readonly OutboxRow[]): Promise<void> => {
    const results = await Promise.allSettled(rows.map((row) => options.publish(row)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure?.status === 'rejected') tellOnce('publish_failed', failure.reason);
    else failing = false;
    const published = rows.filter((_, place) => results[place]?.status === 'fulfilled').map(({ id }) => id);
    // A row that stays unmarked is published once more by a sweep, and the broker drops the repeat.
    await markPublished(store, published).catch((error: unknown) => tellOnce('outbox_not_marked', error));
  };
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) await publishBatch(waiting.splice(0, batchSize));
    draining = undefined;
  };
  const sweep = async (): Promise<void> => {
    try {
      lag = await readOutboxLag(store);
      if (lag.waiting === 0 || !options.connected()) return;
      const rows = await takeUnpublished(store, { olderThanMs, limit: batchSize, subjects: options.subjects });
      if (rows.length === 0) return;
      logger.info({ event: 'outbox_swept', messages: rows.length });
      await publishBatch(rows);
    } catch (error) {
      tellOnce('sweep_failed', error);
    }
  };
  const wakeReaders = ({ advanced }: Committed): void => {
    for (const advance of options.connected() ? advanced : []) {
      const message = {
        subject: eventsSubject(advance.runId),
        messageId: LogAdvanced.messageId(advance),
        payload: JSON.stringify(advance),
      };
      options.announce(message);
    }
  };
  const forget = store.onCommitted((committed) => {
    // While the broker is away rows wait in Postgres and not in this process: a sweep finds them.
    if (options.connected()) waiting.push(...committed.outbox);
    if (waiting.length > 0) draining ??= drain();
    wakeReaders(committed);
  });
  const timer = setInterval(() => {
    sweeping ??= sweep().finally(() => {
      sweeping = undefined;
      sweptAtMs = options.monotonicMs();
    });
  }, sweepEveryMs);
  return {
    lag: () => lag,
    silentMs: () => options.monotonicMs() - sweptAtMs,
    stop: async () => {
      clearInterval(timer);
      forget();
      await sweeping;
      await draining;
    },
  };
}
