import type { z } from 'zod';
import type { ServiceName } from './services.ts';

export const callKinds = ['command', 'query', 'stream'] as const;
export type CallKind = (typeof callKinds)[number];

/**
 * What a token may do. `read`: look at anything. `submit`: start, stop and retry runs. `decide`: answer gates.
 * `operate`: projects and dead letters.
 */
export const roles = ['read', 'submit', 'decide', 'operate'] as const;
export type Role = (typeof roles)[number];

export type HttpMethod = 'GET' | 'POST';

/**
 * One call that a client makes, defined once for HTTP, the broker, gRPC's .proto, OpenAPI and the command line.
 * `request` is a strict object; its fields named in the path template come from the path, the others from the query
 * string of a GET or the JSON body of a POST. Every field, also nested, carries `.meta({ field: n })`, its protobuf
 * number: a promise that nobody renumbers. `readShape` refuses what the subset does not have.
 */
export interface CallContract<
  Name extends string = string,
  Request extends z.ZodObject = z.ZodObject,
  Response extends z.ZodType = z.ZodType,
> {
  readonly name: Name;
  readonly kind: CallKind;
  /** The service that answers; the gateway itself answers from views and the log. */
  readonly servedBy: ServiceName;
  /** Services that make the call beside the gateway. Default: none. */
  readonly askedBy?: readonly ServiceName[];
  /** How long its asker waits for the answer; default 10 s. */
  readonly answerLimitMs?: number;
  /** Any one of these lets a principal make the call. */
  readonly roles: readonly Role[];
  readonly summary: string;
  readonly http: {
    readonly method: HttpMethod;
    readonly path: `/v1/${string}`;
    /** Field of the request that the header Idempotency-Key stands for. */
    readonly idempotencyKey?: string;
  };
  readonly request: Request;
  /** The answer; of a stream: a tagged union by `event`, one member per kind of frame. */
  readonly response: Response;
  /** Codes of the catalogue that this call answers with, beside those every call may have. */
  readonly errors: readonly string[];
  /** The verb of the command line that makes this call. */
  readonly cli?: { readonly verb: string };
  readonly example: { readonly request: z.input<Request>; readonly response: z.input<Response> };
}

export type RequestOf<Call> = Call extends CallContract<string, infer Request, z.ZodType> ? z.output<Request> : never;
export type RequestInputOf<Call> =
  Call extends CallContract<string, infer Request, z.ZodType> ? z.input<Request> : never;
export type ResponseOf<Call> =
  Call extends CallContract<string, z.ZodObject, infer Response> ? z.output<Response> : never;

export function defineCall<const Name extends string, Request extends z.ZodObject, Response extends z.ZodType>(
  contract: CallContract<Name, Request, Response>,
): CallContract<Name, Request, Response> {
  return contract;
}

/** Subject of the broker that a command or query is requested on. */
export function subjectOfCall(call: Pick<CallContract, 'kind' | 'name'>): string {
  return `flotilla.${call.kind === 'command' ? 'command' : 'query'}.${call.name}`;
}

/**
 * Header that names who asks. Only the gateway's user of the broker may publish on call subjects, and it sets the
 * header from the verified token, never from anything a client sent.
 */
export const PRINCIPAL_HEADER = 'Flotilla-Principal';

/** Fields of a request by where HTTP carries them. */
export function placeFields(call: Pick<CallContract, 'http' | 'request'>): {
  readonly path: readonly string[];
  readonly query: readonly string[];
  readonly body: readonly string[];
} {
  const path = [...call.http.path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) => (name === undefined ? [] : [name]));
  const others = Object.keys(call.request.shape).filter((name) => !path.includes(name));
  return call.http.method === 'GET' ? { path, query: others, body: [] } : { path, query: [], body: others };
}
