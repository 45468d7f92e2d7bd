import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readConversation, type Conversation } from './conversation.ts';
import type { Script } from './script.ts';
import { streamReply } from './stream-reply.ts';

export interface ScriptedModelOptions {
  readonly script: Script;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Pause after every chunk, so that a person can watch; default 0. */
  readonly chunkDelayMs?: number;
  /** Where set, any other bearer key is refused. */
  readonly apiKey?: string;
}

export interface ScriptedRequest {
  readonly headers: IncomingHttpHeaders;
  /** The body as it came. */
  readonly text: string;
  readonly conversation: Conversation;
}

export interface ScriptedModel {
  /** Base URL for `FLOTILLA_MODEL=compatible:scripted@<url>`. */
  readonly url: string;
  /** Every completion asked for, in order. */
  readonly requests: readonly ScriptedRequest[];
  close(): Promise<void>;
}

/** A language model that follows a script: a real HTTP server on loopback that speaks the OpenAI streaming protocol. */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const requests: ScriptedRequest[] = [];
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    answer(request, response, options, requests, asked).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answerJson(response, 500, { error: { message: String(error), type: 'script_error' } });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  // A server that listens on TCP has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { script, chunkDelayMs = 0, apiKey }: ScriptedModelOptions,
  requests: ScriptedRequest[],
  asked: Map<string, number>,
): Promise<void> {
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`)
    return answerJson(response, 401, {
      error: { message: 'Incorrect API key provided', type: 'invalid_request_error' },
    });
  if (request.method === 'GET' && request.url === '/v1/models')
    return answerJson(response, 200, {
      object: 'list',
      data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'flotilla' }],
    });
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
    return answerJson(response, 404, { error: { message: `nothing at ${request.url}`, type: 'not_found' } });
  const text = await readText(request);
  const conversation = readConversation(JSON.parse(text));
  requests.push({ headers: request.headers, text, conversation });
  const count = (asked.get(text) ?? 0) + 1;
  asked.set(text, count);
  await streamReply(response, script(conversation, count), {
    conversation,
    id: `scripted-${requests.length}`,
    chunkDelayMs,
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array); // a request without an encoding yields bytes
  return Buffer.concat(chunks).toString();
}

function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
