import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Answer = (response: ServerResponse, request: SeenRequest, count: number) => void;

export interface Endpoint extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  /** Connections that the client gave up before the answer was complete. */
  readonly disconnects: () => number;
}

/** A real HTTP server on loopback that answers each request with the bytes a test gives it. */
export async function startEndpoint(answer: Answer): Promise<Endpoint> {
  const requests: SeenRequest[] = [];
  let disconnects = 0;
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const seen = { path: request.url ?? '', headers: request.headers, body };
      requests.push(seen);
      response.on('close', () => (disconnects += response.writableEnded ? 0 : 1));
      answer(response, seen, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    disconnects: () => disconnects,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString() || '{}') as Readonly<Record<string, unknown>>;
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** One chunk of a chat completion; the delta is the model's, `finish` ends the choice. */
export function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'chat-1', object: 'chat.completion.chunk', created: 1, model: 'answering-model', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

export function usageChunk(usage: object): string {
  return `data: ${JSON.stringify({ id: 'chat-1', object: 'chat.completion.chunk', created: 1, model: 'answering-model', choices: [], usage })}\n\n`;
}

export const simpleUsage = {
  prompt_tokens: 11,
  completion_tokens: 7,
  total_tokens: 18,
  prompt_tokens_details: { cached_tokens: 4 },
};

/** A whole answer that says `text` and stops. */
export function answerText(response: ServerResponse, text: string): void {
  startStream(response);
  response.end(
    `${chunk({ role: 'assistant', content: text })}${chunk({}, 'stop')}${usageChunk(simpleUsage)}data: [DONE]\n\n`,
  );
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
