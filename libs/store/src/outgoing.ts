import type { MessageContract } from '@flotilla/contracts/define-message';
import type { TraceContext } from '@flotilla/contracts/ids';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { z } from 'zod';
import type { RawMessage } from './transaction.ts';

/** The broker takes 1 MiB with headers. */
const MESSAGE_LIMIT_BYTES = 900 * 1024;

/** A message of a contract as the outbox keeps it. Throws MESSAGE_TOO_LARGE, and what the contract refuses. */
export function composeMessage<Schema extends z.ZodObject>(
  contract: MessageContract<Schema>,
  payload: z.input<Schema>,
  trace: TraceContext | undefined,
): Required<Omit<RawMessage, 'cause'>> {
  const message = contract.payload.parse(payload);
  return requireSize({
    subject: contract.subjectOf?.(message) ?? contract.subject,
    messageId: contract.messageId(message),
    payload: JSON.stringify(message),
    headers: traceHeaders(trace),
  });
}

export function requireSize<Message extends RawMessage>(message: Message): Message {
  const bytes = Buffer.byteLength(message.payload);
  if (bytes <= MESSAGE_LIMIT_BYTES) return message;
  throw new FlotillaError(errors.messageTooLarge, { subject: message.subject, bytes, limit: MESSAGE_LIMIT_BYTES });
}

export function traceHeaders(trace: TraceContext | undefined): Readonly<Record<string, string>> {
  if (trace === undefined) return {};
  return {
    traceparent: trace.traceparent,
    ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }),
  };
}
