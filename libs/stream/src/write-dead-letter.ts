import type { DeadLetterRecord } from '@flotilla/contracts/dead-letter';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Envelope } from './read-arrival.ts';
import type { Stage } from './stage.ts';

/** What is kept of a message that cannot be settled well; it names its run and step where it can be read that far. */
export function writeDeadLetter(
  { contract }: Stage,
  envelope: Envelope,
  message: unknown,
  error: FlotillaError,
  at: Date,
): DeadLetterRecord {
  const fields = typeof message === 'object' && message !== null ? message : {};
  const text = (name: string): string | undefined => {
    const value: unknown = Reflect.get(fields, name);
    return typeof value === 'string' ? value : undefined;
  };
  const runId = text('runId');
  const stepId = text('stepId');
  return {
    stage: contract.name,
    subject: envelope.subject,
    messageId: envelope.messageId,
    ...(runId === undefined ? {} : { runId }),
    ...(stepId === undefined ? {} : { stepId }),
    code: error.code,
    message: error.message,
    advice: error.advice,
    deliveries: envelope.delivery,
    at: at.toISOString(),
    headers: Object.fromEntries(envelope.headers),
    payload: envelope.text,
  };
}
