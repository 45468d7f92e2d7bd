import { isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Logger } from './server-types.ts';

/**
 * Each request begins a trace of its own: a client's trace context is not trusted with the fleet's. Paths appear as their
 * template and queries not at all, so that neither ids nor a token somebody put there reach a log or a trace.
 */
export function traceRequests(server: FastifyInstance, tracer: Tracer, logger: Logger): void {
  server.decorateRequest('span', undefined);
  server.decorateRequest('caller', undefined);
  server.addHook('onRequest', (request, _, done) => {
    const route = routeOf(request);
    request.span = tracer.startSpan(
      `${request.method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': request.method, 'http.route': route, 'network.protocol.name': 'http' },
      },
      ROOT_CONTEXT,
    );
    done();
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { span } = request;
    span?.setAttribute('http.response.status_code', reply.statusCode);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    logger.info({
      event: 'http_answered',
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime),
      principal: request.caller?.principal,
      trace_id: traceIdOfRequest(request),
    });
    done();
  });
}

/** Undefined where nothing records traces. */
export function traceIdOfRequest({ span }: FastifyRequest): string | undefined {
  const spanContext = span?.spanContext();
  return spanContext !== undefined && isSpanContextValid(spanContext) ? spanContext.traceId : undefined;
}

function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? 'unknown';
}
