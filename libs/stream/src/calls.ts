import { setTimeout as wait } from 'node:timers/promises';
import {
  type CallContract,
  PRINCIPAL_HEADER,
  type RequestInputOf,
  type RequestOf,
  type ResponseOf,
  subjectOfCall,
} from '@flotilla/contracts/define-call';
import { headers as headerNames } from '@flotilla/contracts/headers';
import { errorOfProblem, Problem, problemOf } from '@flotilla/contracts/problem';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { type Msg, NoRespondersError, RequestError, TimeoutError } from '@nats-io/transport-node';
import type { z } from 'zod';
import type { Broker } from './connect-broker.ts';
import { classify } from './decide-settlement.ts';
import { fromNatsHeaders, toNatsHeaders } from './publish-message.ts';
import { translateError } from './translate-error.ts';

export interface RequestOptions {
  /** Who asks; the gateway gives the verified principal. */
  readonly principal?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: as the call says, else 10 s. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
const unheardMs = 3_000;
const askedAgainMs = 100;

/**
 * Asks the service that serves the call and returns its checked answer. What nobody has heard is asked again for 3 s: a broker or a
 * service that is being started again is waited for. Throws what the service threw; CALL_UNANSWERED when no such service runs;
 * CALL_TIMED_OUT; BROKER_UNAVAILABLE.
 */
export async function request<Call extends CallContract<string, z.ZodObject, z.ZodType>>(
  broker: Broker,
  call: Call,
  input: RequestInputOf<Call>,
  options: RequestOptions = {},
): Promise<ResponseOf<Call>> {
  const answer = await askUntilHeard(broker, call, JSON.stringify(input), options);
  if (answer.headers?.has(headerNames.error) === true) throw errorOfProblem(Problem.parse(answer.json()));
  const parsed = call.response.safeParse(answer.json());
  if (!parsed.success) {
    throw new FlotillaError(errors.callAnswerMalformed, {
      service: call.servedBy,
      call: call.name,
      reason: reasonOf(parsed.error),
    });
  }
  return parsed.data as ResponseOf<Call>; // what the call's own schema gave
}

async function askUntilHeard(
  broker: Broker,
  call: CallContract,
  body: string,
  { principal, headers = {}, timeoutMs = call.answerLimitMs ?? defaultTimeoutMs }: RequestOptions,
): Promise<Msg> {
  const sent = toNatsHeaders({ ...headers, ...(principal === undefined ? {} : { [PRINCIPAL_HEADER]: principal }) });
  const startedAt = performance.now();
  const patienceMs = Math.min(unheardMs, timeoutMs / 2);
  for (;;) {
    const patienceLeftMs = patienceMs - (performance.now() - startedAt);
    // What is handed to a connection that is down goes with it.
    if (!(await broker.untilConnected(Math.max(patienceLeftMs, 0))))
      throw new FlotillaError(errors.brokerUnavailable, { reason: 'the connection is lost' });
    try {
      return await broker.nc.request(subjectOfCall(call), body, { timeout: timeoutMs, headers: sent });
    } catch (error) {
      const translated = translateRequestError(error, call, timeoutMs);
      const unheard = translated instanceof FlotillaError && translated.is(errors.callUnanswered);
      if (!unheard || patienceLeftMs <= 0) throw translated;
      await wait(askedAgainMs);
    }
  }
}

export interface CallContext {
  /** The verified principal that the gateway named; undefined where the asker is a service itself. */
  readonly principal: string | undefined;
  readonly headers: ReadonlyMap<string, string>;
}

export type CallHandler<Call> = (input: RequestOf<Call>, context: CallContext) => Promise<ResponseOf<Call>>;

export interface ServedCall {
  readonly call: CallContract;
  readonly handle: (input: never, context: CallContext) => Promise<unknown>;
}

/** Binds a call to its handler for `serveCalls`. */
export function serve<Call extends CallContract<string, z.ZodObject, z.ZodType>>(
  call: Call,
  handle: CallHandler<Call>,
): ServedCall {
  // A list of calls is read through what they share; the handler gets what its own contract parsed.
  return { call: call as unknown as CallContract, handle: handle as unknown as ServedCall['handle'] };
}

/** Told of each call, for logs and telemetry. */
export interface CallObserver {
  around<T>(
    call: {
      readonly name: string;
      readonly subject: string;
      readonly headers: ReadonlyMap<string, string>;
      /** Undefined where it breaks the contract. */
      readonly input: unknown;
    },
    work: () => Promise<T>,
  ): Promise<T>;
  answered(report: {
    readonly name: string;
    readonly code: string | undefined;
    readonly durationMs: number;
    readonly error?: FlotillaError;
  }): void;
}

export interface ServeOptions {
  readonly observer: CallObserver;
  readonly monotonicMs?: () => number;
}

/**
 * Answers calls until stopped; each process of a service takes a share. What a handler throws is the answer: a problem as the body
 * and its code in a header. Returns how to stop, which waits for the answers under way.
 */
export function serveCalls(
  broker: Broker,
  service: string,
  served: readonly ServedCall[],
  options: ServeOptions,
): () => Promise<void> {
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const running = new Set<Promise<void>>();
  const subscriptions = served.map((each) =>
    broker.nc.subscribe(subjectOfCall(each.call), {
      queue: service,
      callback: (error, message) => {
        if (error !== null) return;
        // An answer that cannot be sent, as the connection is closed, has nobody who waits for it any longer.
        const answering = answer(each, message, options.observer, monotonicMs)
          .catch(() => undefined)
          .finally(() => running.delete(answering));
        running.add(answering);
      },
    }),
  );
  return async () => {
    for (const subscription of subscriptions) {
      if (broker.connected) await subscription.drain().catch(() => undefined);
      else subscription.unsubscribe();
    }
    await Promise.all(running);
  };
}

async function answer(
  { call, handle }: ServedCall,
  message: Msg,
  observer: CallObserver,
  monotonicMs: () => number,
): Promise<void> {
  const startedAt = monotonicMs();
  const headers = fromNatsHeaders(message.headers);
  const read = readInput(call, message);
  await observer.around({ name: call.name, subject: message.subject, headers, input: read.input }, async () => {
    let error: FlotillaError | undefined;
    try {
      if (read.error !== undefined) throw read.error;
      const result = await handle(read.input as never, {
        principal: headers.get(PRINCIPAL_HEADER),
        headers,
      });
      message.respond(JSON.stringify(call.response.parse(result)));
    } catch (thrown) {
      error = classify(thrown);
      message.respond(JSON.stringify(problemOf(error)), {
        headers: toNatsHeaders({ [headerNames.error]: error.code }),
      });
    }
    observer.answered({
      name: call.name,
      code: error?.code,
      durationMs: monotonicMs() - startedAt,
      ...(error === undefined ? {} : { error }),
    });
  });
}

type Read =
  | { readonly input: unknown; readonly error?: undefined }
  | { readonly input?: undefined; readonly error: FlotillaError };

function readInput(call: CallContract, message: Msg): Read {
  const invalid = (details: Readonly<Record<string, unknown>>): Read => ({
    error: new FlotillaError(errors.callInvalid, { call: call.name, ...details }),
  });
  let value: unknown;
  try {
    value = message.json();
  } catch {
    return invalid({ reason: 'it is not JSON' });
  }
  const parsed = call.request.safeParse(value);
  if (parsed.success) return { input: parsed.data };
  const violations = parsed.error.issues.map(({ path, message: text }) => ({ path: path.join('.'), message: text }));
  return invalid({ reason: reasonOf(parsed.error), violations });
}

function reasonOf(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
}

function translateRequestError(error: unknown, call: CallContract, limitMs: number): unknown {
  const details = { service: call.servedBy, call: call.name, limitMs };
  const unanswered =
    error instanceof NoRespondersError ||
    (error instanceof RequestError && (error.isNoResponders() || error.cause instanceof NoRespondersError));
  if (unanswered) return new FlotillaError(errors.callUnanswered, details, { cause: error });
  if (error instanceof TimeoutError || (error instanceof Error && error.cause instanceof TimeoutError)) {
    return new FlotillaError(errors.callTimedOut, details, { cause: error });
  }
  return translateError(error);
}
