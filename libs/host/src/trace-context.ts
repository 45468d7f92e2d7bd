import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';
import type { TraceContext } from '@flotilla/contracts/ids';

/** The trace context of the span that is active, as messages and log rows carry it; undefined outside a span. */
export function currentTraceContext(): TraceContext | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  const { traceparent, tracestate } = carrier;
  if (traceparent === undefined) return undefined;
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** The context that goes on from what a message or a row carried; a new root where it carried nothing. */
export function contextFrom(
  carried: { readonly traceparent?: string | undefined; readonly tracestate?: string | undefined } | undefined,
): Context {
  return carried?.traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, carried);
}

export interface SpanOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Default: what is active. */
  readonly parent?: Context;
}

/** Runs work inside a span of the named tracer. The span ends with the work and records what it throws. */
export async function withSpan<T>(
  tracer: string,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const { kind = SpanKind.INTERNAL, attributes = {}, parent = context.active() } = options;
  return trace.getTracer(tracer).startActiveSpan(name, { kind, attributes }, parent, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      const code = codeOf(error);
      if (code !== undefined) span.setAttribute('error.type', code);
      throw error;
    } finally {
      span.end();
    }
  });
}

function codeOf(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
