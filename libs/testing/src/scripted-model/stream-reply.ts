import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Conversation } from './conversation.ts';
import type { FaultReply, Reply, ScriptedCall } from './script.ts';

export interface StreamOptions {
  readonly conversation: Conversation;
  /** Names the answer; ids of its calls begin with it. */
  readonly id: string;
  readonly chunkDelayMs: number;
}

/** Writes a reply as a provider would: server-sent events in small chunks, usage, and `[DONE]`. */
export async function streamReply(response: ServerResponse, reply: Reply, options: StreamOptions): Promise<void> {
  if (reply.kind === 'fault') return streamFault(response, reply, options);
  openStream(response);
  await writeText(response, reply.kind === 'text' ? reply.text : (reply.text ?? ''), options);
  const calls = reply.kind === 'calls' ? reply.calls : [];
  for (const [index, made] of calls.entries()) await writeCall(response, made, index, options);
  const said = JSON.stringify(reply).length;
  endStream(response, calls.length > 0 ? 'tool_calls' : 'stop', said, options);
}

async function streamFault(
  response: ServerResponse,
  { fault, retryAfterSeconds }: FaultReply,
  options: StreamOptions,
): Promise<void> {
  switch (fault) {
    case 'rate-limit':
      return answerError(
        response,
        429,
        'rate_limit_error',
        retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
      );
    case 'overloaded':
      return answerError(response, 529, 'overloaded_error');
    case 'server-error':
      return answerError(response, 500, 'server_error');
    case 'too-long':
      return answerError(response, 400, 'context_length_exceeded');
    case 'wrong-key':
      return answerError(response, 401, 'invalid_api_key');
    case 'unknown-model':
      return answerError(response, 404, 'model_not_found');
    case 'mute':
      return;
    case 'half-call':
      openStream(response);
      await writeHalfCall(response, options);
      response.destroy();
      return;
    case 'length':
      openStream(response);
      await writeHalfCall(response, options);
      return endStream(response, 'length', 100, options);
    case 'endless-call':
      openStream(response);
      await writeHalfCall(response, options);
      while (!response.destroyed) await writeArguments(response, 'and so on and '.repeat(500), options);
      return;
    case 'cut':
      openStream(response);
      await writeText(response, 'I was about to', options);
      response.destroy();
      return;
    case 'silent':
      openStream(response);
      return writeText(response, 'I was about to', options);
    case 'garbage':
      openStream(response);
      response.end('data: }{ no JSON\n\n');
      return;
    case 'endless':
      openStream(response);
      while (!response.destroyed) await writeText(response, 'and so on and '.repeat(50), options);
      return;
    case 'refusal':
      openStream(response);
      return endStream(response, 'content_filter', 0, options);
    case 'empty':
      openStream(response);
      return endStream(response, 'stop', 0, options);
  }
}

function answerError(
  response: ServerResponse,
  status: number,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message: `scripted ${type}`, type } }));
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

async function writeText(response: ServerResponse, text: string, options: StreamOptions): Promise<void> {
  for (const piece of text.match(/\S+\s*|\s+/g) ?? []) await writeChunk(response, { content: piece }, options);
}

async function writeHalfCall(response: ServerResponse, options: StreamOptions): Promise<void> {
  const begun = { name: 'fs__write', arguments: '{"path":"half.txt","content":"and so' };
  await writeChunk(
    response,
    { tool_calls: [{ index: 0, id: `${options.id}_0`, type: 'function', function: begun }] },
    options,
  );
}

function writeArguments(response: ServerResponse, piece: string, options: StreamOptions): Promise<void> {
  return writeChunk(response, { tool_calls: [{ index: 0, function: { arguments: piece } }] }, options);
}

const argumentPiece = 24;
/** A long argument is not cut so small: it would be a hundred times as many bytes. */
const longArgument = 100_000;
const longPiece = 16_000;

async function writeCall(
  response: ServerResponse,
  made: ScriptedCall,
  index: number,
  options: StreamOptions,
): Promise<void> {
  const name = made.tool.replaceAll('.', '__');
  const text = typeof made.arguments === 'string' ? made.arguments : JSON.stringify(made.arguments);
  await writeChunk(
    response,
    { tool_calls: [{ index, id: `${options.id}_${index}`, type: 'function', function: { name, arguments: '' } }] },
    options,
  );
  const piece = text.length > longArgument ? longPiece : argumentPiece;
  for (let at = 0; at < text.length; at += piece)
    await writeChunk(
      response,
      { tool_calls: [{ index, function: { arguments: text.slice(at, at + piece) } }] },
      options,
    );
}

async function writeChunk(
  response: ServerResponse,
  delta: object,
  { conversation, id, chunkDelayMs }: StreamOptions,
): Promise<void> {
  if (response.destroyed) return;
  const chunk = {
    id,
    object: 'chat.completion.chunk',
    created: 0,
    model: conversation.model,
    choices: [{ index: 0, delta, finish_reason: null }],
  };
  const room = response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  if (chunkDelayMs > 0) await wait(chunkDelayMs);
  else if (!room) await drained(response);
}

/** Room again, or nobody left to write to. */
async function drained(response: ServerResponse): Promise<void> {
  const controller = new AbortController();
  await Promise.race(
    ['drain', 'close'].map((event) => once(response, event, { signal: controller.signal }).catch(() => undefined)),
  );
  controller.abort();
}

const charactersPerToken = 4;

function endStream(response: ServerResponse, reason: string, said: number, { conversation, id }: StreamOptions): void {
  const event = (choices: readonly object[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 0, model: conversation.model, choices, ...more })}\n\n`,
    );
  const read = conversation.messages.reduce((sum, message) => sum + message.text.length, conversation.system.length);
  const prompt = Math.ceil(read / charactersPerToken);
  const completion = Math.ceil(said / charactersPerToken);
  event([{ index: 0, delta: {}, finish_reason: reason }]);
  event([], { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } });
  response.end('data: [DONE]\n\n');
}
