import type { JsMsg } from '@nats-io/jetstream';
import type { MessageContract } from '@flotilla/contracts/define-message';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { fromNatsHeaders } from './publish-message.ts';

/** The outside of a message: what can be said of it before its contract is known to hold. */
export interface Envelope {
  readonly messageId: string;
  readonly subject: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly delivery: number;
  readonly at: Date;
  readonly text: string;
}

/**
 * Within the fleet the sender's id names the occasion. On the queue anybody may send any id, so there the broker's own place of
 * the message does, with its time, because sequences begin anew when the broker's data is lost.
 */
export function readEnvelope(message: JsMsg, contract: Pick<MessageContract, 'stream'>): Envelope {
  const headers = fromNatsHeaders(message.headers);
  const given = contract.stream === 'TASKS' ? undefined : headers.get('Nats-Msg-Id');
  return {
    messageId: given ?? `${message.info.stream}/${message.seq}/${message.timestampNanos}`,
    subject: message.subject,
    headers,
    delivery: message.info.deliveryCount,
    at: message.time,
    text: message.string(),
  };
}

/** Parses the payload by its contract. Throws MESSAGE_MALFORMED with what is wrong, field by field. */
export function readPayload({ subject, text }: Envelope, contract: MessageContract): unknown {
  const malformed = (reason: string, violations?: readonly unknown[]): FlotillaError =>
    new FlotillaError(errors.messageMalformed, {
      subject,
      contract: contract.name,
      reason,
      ...(violations === undefined ? {} : { violations }),
    });
  if (text === '') throw malformed('it is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('it is not JSON');
  }
  const parsed = contract.payload.safeParse(value);
  if (parsed.success) return parsed.data;
  const violations = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw malformed(
    violations.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '),
    violations,
  );
}
