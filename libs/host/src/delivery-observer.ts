import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { headers as headerNames } from '@flotilla/contracts/headers';
import { errors } from '@flotilla/errors/catalogue';
import { classify, type Settlement } from '@flotilla/stream/decide-settlement';
import type { DeliveryObserver } from '@flotilla/stream/delivery-guard';
import type { CallObserver } from '@flotilla/stream/calls';
import type { Logger } from './create-logger.ts';
import { type LogFields, withLogFields } from './log-context.ts';
import type { FleetMetrics } from './metrics.ts';
import { contextFrom, withSpan } from './trace-context.ts';

export interface ObserverOptions {
  readonly service: string;
  readonly logger: Logger;
  readonly metrics: FleetMetrics;
}

/** A span, a log line and a number for each delivery; the span goes on from the trace that the message carries. */
export function observeDeliveries({ service, logger, metrics }: ObserverOptions): DeliveryObserver {
  return {
    around: ({ stage, messageId, subject, delivery, waitedMs, headers, message }, work) =>
      withSpan(
        service,
        `process ${stage}`,
        {
          kind: SpanKind.CONSUMER,
          parent: contextFrom({
            traceparent: headers.get(headerNames.traceparent),
            tracestate: headers.get(headerNames.tracestate),
          }),
          attributes: {
            'messaging.system': 'nats',
            'messaging.operation.type': 'process',
            'messaging.destination.name': subject,
            'messaging.message.id': messageId,
            'flotilla.delivery': delivery,
            ...spanFields(namesOf(message)),
          },
        },
        () =>
          withLogFields({ ...namesOf(message), message_id: messageId }, () => {
            logger.info({ event: 'delivery_started', stage, delivery });
            if (waitedMs !== undefined) metrics.taken({ stage, waitedMs });
            return work();
          }),
      ),
    settled: ({ stage, delivery, settlement, durationMs }) => {
      const code = codeOf(settlement);
      const fields = { stage, settlement: settlement.kind, durationMs, ...(code === undefined ? {} : { code }) };
      metrics.delivered(fields);
      if (settlement.kind === 'later' && !settlement.counted && code !== undefined) metrics.waited({ stage, code });
      markSpan(settlement);
      const line = {
        event: 'delivery_settled',
        stage,
        delivery,
        settlement: settlement.kind,
        duration_ms: Math.round(durationMs),
        ...detailsOf(settlement),
      };
      if (settlement.kind === 'dead') logger.error(line);
      else if (settlement.kind === 'later' && settlement.counted) logger.warn(line);
      else if (code === errors.leaseHeld.code) logger.debug(line);
      else logger.info(line);
    },
    troubled: (event, error, stage) => {
      const { code, message } = classify(error);
      logger.warn({ event, stage, code, reason: message });
    },
  };
}

/** The same for calls. */
export function observeCalls({ service, logger, metrics }: ObserverOptions): CallObserver {
  return {
    around: ({ name, subject, headers, input }, work) =>
      withSpan(
        service,
        `answer ${name}`,
        {
          kind: SpanKind.SERVER,
          parent: contextFrom({
            traceparent: headers.get(headerNames.traceparent),
            tracestate: headers.get(headerNames.tracestate),
          }),
          attributes: {
            'messaging.system': 'nats',
            'messaging.destination.name': subject,
            'rpc.method': name,
            ...spanFields(namesOf(input)),
          },
        },
        () => withLogFields(namesOf(input), work),
      ),
    answered: ({ name, code, durationMs, error }) => {
      metrics.called({ call: name, durationMs, ...(code === undefined ? {} : { code }) });
      if (code !== undefined) trace.getActiveSpan()?.setAttribute('error.type', code);
      const line = {
        event: 'call_answered',
        call: name,
        duration_ms: Math.round(durationMs),
        ...(code === undefined ? {} : { code, reason: error?.message }),
      };
      if (error?.remedy === 'operator') logger.error({ ...line, ...stackOf(error) });
      else logger.info(line);
    },
  };
}

/** Names of the run and step that a message is about, as log lines carry them. */
function namesOf(message: unknown): LogFields {
  const fields = typeof message === 'object' && message !== null ? message : {};
  const named = {
    run_id: Reflect.get(fields, 'runId'),
    step_id: Reflect.get(fields, 'stepId'),
    attempt: Reflect.get(fields, 'attempt'),
  } as const;
  return Object.fromEntries(
    Object.entries(named).filter(
      (entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number',
    ),
  );
}

function spanFields(fields: LogFields): Record<string, string | number> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`flotilla.${name}`, value]));
}

function codeOf(settlement: Settlement): string | undefined {
  return settlement.kind === 'acknowledged' ? undefined : settlement.error.code;
}

function detailsOf(settlement: Settlement) {
  if (settlement.kind === 'acknowledged') return {};
  const { error } = settlement;
  return {
    code: error.code,
    reason: error.message,
    ...(settlement.kind === 'later' ? { delay_ms: settlement.delayMs, counted: settlement.counted } : {}),
    ...(error.code === 'FAILURE_UNCLASSIFIED' ? stackOf(error) : {}),
  };
}

function stackOf(error: Error): { readonly stack?: string } {
  const stack = error.cause instanceof Error ? error.cause.stack : error.stack;
  return stack === undefined ? {} : { stack };
}

function markSpan(settlement: Settlement): void {
  const span = trace.getActiveSpan();
  span?.setAttribute('flotilla.settlement', settlement.kind);
  if (settlement.kind === 'acknowledged') return;
  span?.setAttribute('error.type', settlement.error.code);
  if (settlement.kind === 'dead') span?.setStatus({ code: SpanStatusCode.ERROR, message: settlement.error.code });
}
