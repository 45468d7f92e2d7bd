import { calls, type CallName } from '@flotilla/contracts/call-catalogue';
import { placeFields, type RequestInputOf, type ResponseOf } from '@flotilla/contracts/define-call';
import type { WatchEvent } from '@flotilla/contracts/calls/watch-run';

type Calls = typeof calls;
export type LogEvent = Extract<WatchEvent, { event: 'entry' }>['entry'];

/** What a problem answer told a client. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly advice: string;

  constructor(status: number, problem: { readonly code?: string; readonly detail?: string; readonly advice?: string }) {
    super(`${status} ${problem.code ?? ''}: ${problem.detail ?? ''}`);
    this.status = status;
    this.code = problem.code ?? '';
    this.advice = problem.advice ?? '';
  }
}

/** Makes calls over real HTTP, as any client would. */
export class FleetClient {
  readonly url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  async call<Name extends CallName>(name: Name, input: RequestInputOf<Calls[Name]>): Promise<ResponseOf<Calls[Name]>> {
    const response = await fetch(...this.#request(name, input as Readonly<Record<string, unknown>>));
    const body: unknown = await response.json();
    if (!response.ok) throw new ProblemError(response.status, body as { code?: string; detail?: string });
    // The contract's own schema reads the answer; its type follows from the name.
    return calls[name].response.parse(body) as ResponseOf<Calls[Name]>;
  }

  /** Entries of a run's log as they come, until the run has ended. Reconnects with Last-Event-ID when the stream is cut. */
  async *entries(runId: string, signal: AbortSignal): AsyncGenerator<LogEvent> {
    let last = 0;
    while (!signal.aborted) {
      try {
        for await (const frame of this.#frames(runId, last, signal)) {
          if (frame.event === 'done') return;
          if (frame.event !== 'entry') continue;
          last = frame.entry.sequence;
          yield frame.entry;
        }
      } catch (error) {
        if (signal.aborted || error instanceof ProblemError) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    signal.throwIfAborted();
  }

  async *#frames(runId: string, after: number, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const response = await fetch(`${this.url}/v1/runs/${runId}/events`, {
      headers: { authorization: `Bearer ${this.#token}`, accept: 'text/event-stream', 'last-event-id': String(after) },
      signal,
    });
    if (!response.ok || response.body === null)
      throw new ProblemError(response.status, (await response.json()) as { code?: string });
    let buffered = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      buffered += chunk;
      const frames = buffered.split('\n\n');
      buffered = frames.pop() ?? '';
      for (const frame of frames) {
        const data = frame.split('\n').find((line) => line.startsWith('data: '));
        if (data !== undefined) yield calls.watchRun.response.parse(JSON.parse(data.slice('data: '.length)));
      }
    }
  }

  #request(name: CallName, input: Readonly<Record<string, unknown>>): [string, RequestInit] {
    const { http } = calls[name];
    const fields = placeFields(calls[name]);
    const path = http.path.replace(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(String(input[field])));
    const url = new URL(path, this.url);
    for (const field of fields.query) if (input[field] !== undefined) url.searchParams.set(field, String(input[field]));
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    if (http.method === 'GET') return [url.href, { headers }];
    const body = Object.fromEntries(fields.body.map((field) => [field, input[field]]));
    return [url.href, { method: 'POST', headers, body: JSON.stringify(body) }];
  }
}
