import { SpanKind } from '@opentelemetry/api';
import { eventsSubject } from '@flotilla/contracts/streams';
import type { Broker } from '@flotilla/stream/connect-broker';
import { type OutgoingMessage, publishRaw } from '@flotilla/stream/publish-message';
import { contextFrom, withSpan } from './trace-context.ts';

/**
 * Publishes inside a span of the trace that the message carries. Wake-ups get none, and a message without a trace does not begin one.
 */
export async function publishTraced(tracer: string, broker: Broker, message: OutgoingMessage): Promise<void> {
  const { headers = {}, subject, messageId } = message;
  if (headers['traceparent'] === undefined || subject.startsWith(eventsSubject(''))) {
    await publishRaw(broker, message);
    return;
  }
  const attributes = {
    'messaging.system': 'nats',
    'messaging.operation.type': 'send',
    'messaging.operation.name': 'publish',
    'messaging.destination.name': subject,
    'messaging.message.id': messageId,
  };
  await withSpan(tracer, `send ${subject}`, { kind: SpanKind.PRODUCER, parent: contextFrom(headers), attributes }, () =>
    publishRaw(broker, message),
  );
}
