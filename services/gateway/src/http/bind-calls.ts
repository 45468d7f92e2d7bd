import type { CallContract } from '@flotilla/contracts/define-call';
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../domain/caller.ts';
import { HEARTBEAT_FRAME } from '../domain/frame-event.ts';
import { readRequest } from '../domain/read-request.ts';
import type { Outlet } from '../watch/watch-run.ts';
import { openOutlet, OutletClosed } from './open-outlet.ts';
import { responseHeaders } from './response-headers.ts';
import type { Logger } from './server-types.ts';

export type Request = Readonly<Record<string, unknown>>;

/** What a bound call leads to; the same for HTTP and every later transport. */
export interface Answers {
  /** Answers a command or query. */
  answer(call: CallContract, request: Request, caller: Caller): Promise<unknown>;
  /** Checks a stream's request, then returns how to send it; throws before anything was sent. */
  open(call: CallContract, request: Request, lastEventId: string | undefined): Promise<Sending>;
}

export type Sending = (outlet: Outlet, signal: AbortSignal) => Promise<void>;

export interface CallBinding {
  readonly answers: Answers;
  readonly logger: Logger;
  /** Aborts when the gateway shuts down. */
  readonly shutdown: AbortSignal;
}

/** Comments are sent this often, so that neither a proxy nor a client takes a quiet stream for a dead one. */
const HEARTBEAT_MS = 15_000;

/** One route a call: the whole HTTP face of the fleet follows from the catalogue. */
export function bindCalls(server: FastifyInstance, calls: readonly CallContract[], binding: CallBinding): void {
  for (const call of calls) {
    server.route({
      method: call.http.method,
      url: call.http.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { access: 'call', call },
      handler: (request, reply) =>
        context.with(contextOf(request), () =>
          call.kind === 'stream' ? stream(call, request, reply, binding) : answer(call, request, reply, binding),
        ),
    });
  }
}

async function answer(call: CallContract, request: FastifyRequest, reply: FastifyReply, { answers }: CallBinding) {
  const answered = await answers.answer(call, readRequest(call, rawOf(request)), callerOf(request));
  return reply.send(call.response.parse(answered));
}

async function stream(call: CallContract, request: FastifyRequest, reply: FastifyReply, binding: CallBinding) {
  const send = await binding.answers.open(call, readRequest(call, rawOf(request)), headerOf(request, 'last-event-id'));
  reply.hijack();
  const response = reply.raw;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.on('error', () => gone.abort());
  response.writeHead(200, {
    ...responseHeaders,
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 2000\n\n');
  request.span?.setAttribute('http.response.status_code', 200).end();
  const outlet = openOutlet(response);
  const heartbeat = setInterval(() => outlet.offer(HEARTBEAT_FRAME), HEARTBEAT_MS);
  try {
    await send(outlet, AbortSignal.any([gone.signal, binding.shutdown]));
  } catch (error) {
    if (!(error instanceof OutletClosed)) binding.logger.error({ event: 'stream_failed', call: call.name, err: error });
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

function rawOf(request: FastifyRequest) {
  return {
    // Fastify leaves the type of these to the route; the call says what they are.
    path: request.params as Readonly<Record<string, unknown>>,
    query: request.query as Readonly<Record<string, unknown>>,
    body: request.body ?? {},
    idempotencyKey: headerOf(request, 'idempotency-key'),
  };
}

/** The first value where a header came more than once. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function callerOf(request: FastifyRequest): Caller {
  if (request.caller === undefined) throw new Error('a call was bound to a route that anybody may take');
  return request.caller;
}

function contextOf({ span }: FastifyRequest) {
  return span === undefined ? context.active() : trace.setSpan(ROOT_CONTEXT, span);
}
