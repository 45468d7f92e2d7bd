import { type CallContract, placeFields, type RequestInputOf, type ResponseOf } from '@flotilla/contracts/define-call';
import { errorOfProblem, Problem } from '@flotilla/contracts/problem';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { Agent, type Dispatcher, request as send } from 'undici';
import { z } from 'zod';

const Readiness = z.object({ needs: z.record(z.string(), z.boolean()) });

type AnyCall = CallContract<string, z.ZodObject, z.ZodType>;

export interface ApiClient {
  readonly url: string;
  /** Makes a call. Throws the error of the fleet's problem, FLEET_UNREACHABLE or FLEET_ANSWER_UNREADABLE. */
  call<Call extends AnyCall>(call: Call, request: RequestInputOf<Call>): Promise<ResponseOf<Call>>;
  /** Opens a stream and gives its bytes as they come. Throws like `call`, also in the middle. */
  open<Call extends AnyCall>(
    call: Call,
    request: RequestInputOf<Call>,
    lastEventId?: string,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Names of what the fleet needs and whether each answers. Throws like `call`. */
  ready(): Promise<Readonly<Record<string, boolean>>>;
  close(): Promise<void>;
}

export interface Access {
  readonly url: string;
  readonly token: string;
}

/** A stream says something every 15 s, so three times that without a word is a dead connection. */
const silenceLimitMs = 45_000;

export function createApiClient({ url, token }: Access, signal: AbortSignal): ApiClient {
  const agent = new Agent({ connect: { timeout: 5_000 }, headersTimeout: 30_000, bodyTimeout: silenceLimitMs });
  const ask = async (call: AnyCall, request: unknown, headers: Readonly<Record<string, string>>) => {
    const { path, body } = writeRequest(call, request);
    try {
      return await send(new URL(path, url), {
        dispatcher: agent,
        method: call.http.method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        signal,
      });
    } catch (error) {
      throw unreachable(url, error, signal);
    }
  };
  return {
    url,
    call: async (call, request) => {
      const response = await ask(call, request, { accept: 'application/json' });
      const answer = await readJson(response, url, signal);
      if (response.statusCode !== 200) throw problemError(answer, response.statusCode, url);
      const parsed = call.response.safeParse(answer);
      if (!parsed.success) throw unreadable(url, `the answer of ${call.name} has another shape`);
      // The call's own schema gave it.
      return parsed.data as ResponseOf<typeof call>;
    },
    open: async (call, request, lastEventId) => {
      const response = await ask(call, request, {
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      });
      if (response.statusCode !== 200)
        throw problemError(await readJson(response, url, signal), response.statusCode, url);
      return readBytes(response, url, signal);
    },
    ready: async () => {
      const response = await send(new URL('/ready', url), { dispatcher: agent, signal }).catch((error: unknown) => {
        throw unreachable(url, error, signal);
      });
      const answer = Readiness.safeParse(await readJson(response, url, signal));
      if (!answer.success) throw unreadable(url, `/ready answers with status ${response.statusCode}`);
      return answer.data.needs;
    },
    close: () => agent.destroy(),
  };
}

function writeRequest(call: AnyCall, request: unknown): { readonly path: string; readonly body?: string } {
  // A request of any call is an object of its fields.
  const fields = new Map(Object.entries(request as Readonly<Record<string, unknown>>));
  const places = placeFields(call);
  const path = call.http.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(fields.get(name))));
  const pick = (names: readonly string[]) =>
    names.flatMap((name) => (fields.get(name) === undefined ? [] : [[name, fields.get(name)] as const]));
  if (call.http.method === 'GET') {
    const query = pick(places.query).flatMap(([name, value]) =>
      [value].flat().map((item): [string, string] => [name, String(item)]),
    );
    return { path: query.length === 0 ? path : `${path}?${new URLSearchParams(query)}` };
  }
  return places.body.length === 0 ? { path } : { path, body: JSON.stringify(Object.fromEntries(pick(places.body))) };
}

async function readJson(response: Dispatcher.ResponseData, url: string, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.body.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw unreadable(url, `status ${response.statusCode} without JSON`);
    throw unreachable(url, error, signal);
  }
}

async function* readBytes(response: Dispatcher.ResponseData, url: string, signal: AbortSignal) {
  try {
    for await (const chunk of response.body) yield chunk as Uint8Array; // undici gives buffers
  } catch (error) {
    throw unreachable(url, error, signal);
  }
}

function problemError(answer: unknown, status: number, url: string): FlotillaError {
  const problem = Problem.safeParse(answer);
  return problem.success ? errorOfProblem(problem.data) : unreadable(url, `status ${status}`);
}

function unreadable(url: string, reason: string): FlotillaError {
  return new FlotillaError(errors.fleetAnswerUnreadable, { url, reason });
}

/** What the person stopped is thrown as the reason they stopped it for. */
function unreachable(url: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const reason = error instanceof Error ? (error.message === '' ? error.name : error.message) : String(error);
  return new FlotillaError(errors.fleetUnreachable, { url, reason }, { cause: error });
}
