import type { JsMsg } from '@nats-io/jetstream';
import { toJsMsg } from '@nats-io/jetstream/internal';
import { nanos } from '@nats-io/transport-node';
import type { Broker } from './connect-broker.ts';
import type { StageConsumer } from './provision-streams.ts';

export type Pulled =
  | { readonly kind: 'message'; readonly message: JsMsg }
  | { readonly kind: 'nothing' }
  /** The broker does not know the consumer, or JetStream is not up yet. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface PullOptions {
  readonly expiresMs: number;
  /** Ends the pull with `nothing`. */
  readonly signal: AbortSignal;
}

const graceMs = 2_000;
/** 404 no messages, 408 expired, 409 the server ended the pull. */
const emptyCodes = new Set([404, 408, 409]);

/**
 * Asks for exactly one message and waits for it: the client's own `consume` fetches ahead, and a message that waits in a
 * process behind others gives no sign of life, is delivered again, and runs twice.
 */
export function pullMessage(
  { nc, createInbox }: Broker,
  { stream, durable }: StageConsumer,
  { expiresMs, signal }: PullOptions,
): Promise<Pulled> {
  if (signal.aborted) return Promise.resolve({ kind: 'nothing' });
  return new Promise((resolve, reject) => {
    const inbox = createInbox();
    const end = (pulled: Pulled): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      subscription.unsubscribe();
      resolve(pulled);
    };
    const giveUp = (): void => end({ kind: 'nothing' });
    const subscription = nc.subscribe(inbox, {
      callback: (error, message) => {
        if (error !== null) return end({ kind: 'unavailable', reason: error.message });
        const code = message.headers?.code ?? 0;
        if (message.reply !== undefined && message.reply !== '' && code === 0)
          return end({ kind: 'message', message: toJsMsg(message) });
        if (code === 100) return;
        const reason = message.headers?.description ?? '';
        const gone = code === 409 && /deleted/i.test(reason);
        end(emptyCodes.has(code) && !gone ? { kind: 'nothing' } : { kind: 'unavailable', reason: `${code} ${reason}` });
      },
    });
    const timer = setTimeout(giveUp, expiresMs + graceMs);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      nc.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
        JSON.stringify({ batch: 1, expires: nanos(expiresMs) }),
        { reply: inbox },
      );
    } catch (error) {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      reject(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
