import type { CallContract } from '@flotilla/contracts/define-call';
import { PROBLEM_MEDIA_TYPE, problemOf } from '@flotilla/contracts/problem';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Tracer } from '@opentelemetry/api';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { readJson } from '../domain/read-json.ts';
import { admitRequest, type Doorkeeper } from './admit-request.ts';
import { type Answers, bindCalls } from './bind-calls.ts';
import { bindPages, type Pages } from './bind-pages.ts';
import { BODY_LIMIT_BYTES } from './body-limit.ts';
import { findMethods } from './find-methods.ts';
import { refuseConnection } from './refuse-connection.ts';
import { responseHeaders } from './response-headers.ts';
import type { Logger, Route } from './server-types.ts';
import { traceIdOfRequest, traceRequests } from './trace-requests.ts';
import { translateError } from './translate-error.ts';

export interface ServerOptions {
  readonly calls: readonly CallContract[];
  readonly answers: Answers;
  readonly door: Doorkeeper;
  readonly pages: Pages;
  readonly logger: Logger;
  readonly tracer: Tracer;
  readonly shutdown: AbortSignal;
  /** How long a client may take to send a whole request. Default 30 s. */
  readonly requestLimitMs?: number;
}

const defaultRequestLimitMs = 30_000;
/** Clients that are late are looked for so often. */
const longestLatenessMs = 5_000;

/** The HTTP server, not yet listening, and every route it has. Only what says `access: 'open'` answers without a token. */
export function buildServer(options: ServerOptions): {
  readonly server: FastifyInstance;
  readonly routes: readonly Route[];
} {
  const { door, logger, requestLimitMs = defaultRequestLimitMs } = options;
  const server = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: requestLimitMs,
    http: {
      headersTimeout: requestLimitMs,
      connectionsCheckingInterval: Math.min(longestLatenessMs, requestLimitMs),
    },
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => {
      // Thrown before any hook has run: the door comes first here too.
      reply.headers(responseHeaders);
      sendProblem(reasonToRefuse(request, door) ?? error, request, reply, logger);
    },
  });
  const routes: Route[] = [];
  server.addHook('onRoute', ({ method, url }) => {
    routes.push(...[method].flat().map((name) => ({ method: name, url })));
  });
  traceRequests(server, options.tracer, logger);
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(responseHeaders);
    request.caller = admitRequest(request, door);
    done();
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, ({ headers }, body, done) => {
    requireUtf8(headers['content-type'] ?? '');
    done(null, readJson(typeof body === 'string' ? Buffer.from(body) : body));
  });
  server.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, logger));
  server.setNotFoundHandler(({ method, url }) => {
    const path = url.split('?', 1)[0] ?? '';
    const allowed = findMethods(routes, path).join(', ');
    if (allowed === '') throw new FlotillaError(errors.routeUnknown, { method, path });
    throw new FlotillaError(errors.methodUnknown, { method, path, allowed });
  });
  bindPages(server, options.pages);
  bindCalls(server, options.calls, options);
  return { server, routes };
}

/** JSON is UTF-8, and a body that says otherwise is not read as if it were. */
function requireUtf8(contentType: string): void {
  const charsets = [...contentType.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)].map(([, name = '']) =>
    name.toLowerCase(),
  );
  if (charsets.every((name) => name === 'utf-8' || name === 'utf8')) return;
  throw new FlotillaError(errors.contentTypeRefused, { contentType });
}

function reasonToRefuse(request: FastifyRequest, door: Doorkeeper): unknown {
  try {
    admitRequest(request, door);
    return undefined;
  } catch (error) {
    return error;
  }
}

function sendProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): void {
  const error = translateError(thrown, request.headers['content-type'], request.method);
  const traceId = traceIdOfRequest(request);
  if (error.is(errors.gatewayFailed)) logger.error({ event: 'request_failed', trace_id: traceId, err: error.cause });
  request.span?.setAttribute('error.type', error.code);
  if (error.status === 401) {
    const scheme = request.routeOptions.config.access === 'page' ? 'Basic' : 'Bearer';
    reply.header('www-authenticate', `${scheme} realm="Flotilla"`);
  }
  if (error.is(errors.methodUnknown)) reply.header('allow', String(error.details['allowed']));
  if (error.status === 503) reply.header('retry-after', '1');
  reply
    .code(error.status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(JSON.stringify(problemOf(error, traceId)));
}
