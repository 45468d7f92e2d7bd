import type { Consumer, JsMsg } from '@nats-io/jetstream';

export type Pulled =
  | { readonly kind: 'message'; readonly message: JsMsg }
  | { readonly kind: 'nothing' }
  /** The broker does not know the consumer, or JetStream is not up. */
  | { readonly kind: 'unavailable'; readonly reason: unknown };

export interface PullOptions {
  readonly expiresMs: number;
  /** Ends the pull with `nothing`. */
  readonly signal: AbortSignal;
}

/**
 * Asks for exactly one message and waits for it: `consume` fetches ahead, and a message that waits in a process behind
 * others gives no sign of life, is delivered again, and runs twice.
 */
export async function pullMessage(consumer: Consumer, { expiresMs, signal }: PullOptions): Promise<Pulled> {
  if (signal.aborted) return { kind: 'nothing' };
  try {
    const messages = await consumer.fetch({ max_messages: 1, expires: expiresMs });
    const giveUp = (): void => messages.stop();
    signal.addEventListener('abort', giveUp, { once: true });
    // A signal that aborted while the broker was asked tells no more.
    if (signal.aborted) giveUp();
    try {
      for await (const message of messages) return { kind: 'message', message };
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return { kind: 'nothing' };
  } catch (reason) {
    return { kind: 'unavailable', reason };
  }
}
