import { type Attributes, type Meter } from '@opentelemetry/api';
import { hrTimeToMilliseconds } from '@opentelemetry/core';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';

/** Boundaries that OpenTelemetry's conventions for generative AI name. */
const tokenBoundaries = Array.from({ length: 14 }, (_, power) => 4 ** power);
const secondBoundaries = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);

const kept = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'server.address',
  'server.port',
] as const;

/** The numbers of model calls, read off their spans as they end, so that each call says what it did in one place. */
export function measureModelCalls(meter: Meter): SpanProcessor {
  const usage = meter.createHistogram('gen_ai.client.token.usage', {
    unit: '{token}',
    description: 'Tokens of a model call, by input and output.',
    advice: { explicitBucketBoundaries: tokenBoundaries },
  });
  const duration = meter.createHistogram('gen_ai.client.operation.duration', {
    unit: 's',
    description: 'From the request to the end of the answer.',
    advice: { explicitBucketBoundaries: secondBoundaries },
  });
  return {
    onStart: () => undefined,
    onEnd: (span) => {
      if (span.attributes['gen_ai.operation.name'] !== 'chat') return;
      const attributes = pick(span, kept);
      duration.record(hrTimeToMilliseconds(span.duration) / 1000, { ...attributes, ...pick(span, ['error.type']) });
      for (const type of ['input', 'output']) {
        const tokens = span.attributes[`gen_ai.usage.${type}_tokens`];
        if (typeof tokens === 'number') usage.record(tokens, { ...attributes, 'gen_ai.token.type': type });
      }
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
}

function pick({ attributes }: ReadableSpan, names: readonly string[]): Attributes {
  return Object.fromEntries(names.flatMap((name) => (name in attributes ? [[name, attributes[name]]] : [])));
}
