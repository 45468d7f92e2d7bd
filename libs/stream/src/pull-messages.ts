import type { Consumer, JsMsg } from '@nats-io/jetstream';

export type Pulled =
  /** So many were taken; fewer than asked for when the time was over or the pull was given up. */
  | { readonly kind: 'ended'; readonly taken: number }
  /** The broker does not know the consumer, or JetStream is not up. */
  | { readonly kind: 'unavailable'; readonly taken: number; readonly reason: unknown };

export interface PullOptions {
  /** Messages that there are free slots for. */
  readonly count: number;
  readonly expiresMs: number;
  /** Ends the pull. */
  readonly signal: AbortSignal;
  /** Given each message as it arrives. */
  readonly take: (message: JsMsg) => void;
}

/**
 * Asks for as many messages as can be worked on at once and waits for them: `consume` fetches ahead, and a message that waits in
 * a process behind others gives no sign of life, is delivered again, and runs twice.
 */
export async function pullMessages(
  consumer: Consumer,
  { count, expiresMs, signal, take }: PullOptions,
): Promise<Pulled> {
  let taken = 0;
  if (signal.aborted) return { kind: 'ended', taken };
  try {
    const messages = await consumer.fetch({ max_messages: count, expires: expiresMs });
    const giveUp = (): void => messages.stop();
    signal.addEventListener('abort', giveUp, { once: true });
    // A signal that aborted while the broker was asked tells no more.
    if (signal.aborted) giveUp();
    try {
      for await (const message of messages) {
        taken += 1;
        take(message);
      }
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return { kind: 'ended', taken };
  } catch (reason) {
    return { kind: 'unavailable', taken, reason };
  }
}
