import type { PubAck } from '@nats-io/jetstream';
import { headers as createHeaders, type MsgHdrs } from '@nats-io/transport-node';
import type { MessageContract } from '@flotilla/contracts/define-message';
import type { z } from 'zod';
import type { Broker } from './connect-broker.ts';
import { translating } from './translate-error.ts';

export interface OutgoingMessage {
  readonly subject: string;
  /** The broker drops a second one within the duplicate window. */
  readonly messageId: string;
  readonly payload: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Publishes to JetStream and returns once the broker has the message. */
export function publishRaw(
  broker: Broker,
  { subject, messageId, payload, headers = {} }: OutgoingMessage,
): Promise<PubAck> {
  return translating(() =>
    broker.js.publish(subject, payload, { msgID: messageId, headers: toNatsHeaders(headers), retries: 2 }),
  );
}

/** Hands a message to the connection and waits for nothing: it may be lost with the connection. The stream keeps what arrives. */
export function announceRaw(broker: Broker, { subject, messageId, payload }: OutgoingMessage): void {
  if (!broker.nc.isClosed())
    broker.nc.publish(subject, payload, { headers: toNatsHeaders({ 'Nats-Msg-Id': messageId }) });
}

/** Publishes the message of a contract, checked against it. */
export async function publishMessage<Schema extends z.ZodObject>(
  broker: Broker,
  contract: MessageContract<Schema>,
  payload: z.input<Schema>,
  { headers = {} }: { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<PubAck> {
  const message = contract.payload.parse(payload);
  return publishRaw(broker, {
    subject: contract.subjectOf?.(message) ?? contract.subject,
    messageId: contract.messageId(message),
    payload: JSON.stringify(message),
    headers,
  });
}

export function toNatsHeaders(entries: Readonly<Record<string, string>>): MsgHdrs {
  const result = createHeaders();
  for (const [name, value] of Object.entries(entries)) result.set(name, value.replace(/[\r\n]+/g, ' '));
  return result;
}

export function fromNatsHeaders(given: MsgHdrs | undefined): ReadonlyMap<string, string> {
  const result = new Map<string, string>();
  for (const name of given?.keys() ?? []) result.set(name, given?.get(name) ?? '');
  return result;
}
