import { inspect } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { expect, test } from 'vitest';
import { hastyClock, patientLimits, realClock } from './clock.fixture.ts';
import { createModel, type ModelCallRecord, type ModelOptions } from './create-model.ts';
import {
  answerJson,
  answerText,
  chunk,
  simpleUsage,
  startEndpoint,
  startStream,
  usageChunk,
  type Endpoint,
} from './endpoint.fixture.ts';
import type { Model, ModelPart, ModelRequest } from './model.ts';
import { SecretKey } from './secret-key.ts';

const question: ModelRequest = {
  system: 'Be brief.',
  messages: [{ role: 'user', text: 'Hello' }],
  tools: [
    {
      name: 'fs_read',
      description: 'Reads.',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
    },
  ],
};

function modelAt(endpoint: Endpoint, options: Partial<ModelOptions> = {}): Model {
  return createModel({
    provider: 'compatible',
    model: 'asked-model',
    baseUrl: endpoint.url,
    clock: hastyClock(),
    random: () => 0,
    timeLimits: patientLimits,
    ...options,
  });
}

async function collect(model: Model, request: ModelRequest = question): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(request)) parts.push(part);
  return parts;
}

async function failureOf(model: Model, request: ModelRequest = question): Promise<FlotillaError> {
  const error: unknown = await collect(model, request).catch((thrown: unknown) => thrown);
  if (error instanceof FlotillaError) return error;
  throw new Error(`expected one of our errors, got ${inspect(error)}`);
}

test('a compatible endpoint streams text, reasoning, a split tool call and its usage', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ role: 'assistant', reasoning_content: 'hm' }));
    response.write(chunk({ content: 'Let me ' }));
    response.write(chunk({ content: 'look.' }));
    response.write(
      chunk({
        tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'fs_read', arguments: '' } }],
      }),
    );
    response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] }));
    response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: '"a.txt"}' } }] }));
    response.end(`${chunk({}, 'tool_calls')}${usageChunk(simpleUsage)}data: [DONE]\n\n`);
  });
  expect(await collect(modelAt(endpoint))).toEqual([
    { kind: 'reasoning', text: 'hm' },
    { kind: 'text', text: 'Let me ' },
    { kind: 'text', text: 'look.' },
    { kind: 'toolCall', id: 'call_1', name: 'fs_read', arguments: { kind: 'parsed', value: { path: 'a.txt' } } },
    {
      kind: 'finish',
      reason: 'toolCalls',
      usage: { inputTokens: 11, outputTokens: 7, cachedInputTokens: 4, reasoningTokens: 0 },
      microdollars: null,
      spanAttributes: expect.objectContaining({
        'gen_ai.response.id': 'chat-1',
        'gen_ai.response.model': 'answering-model',
        'gen_ai.response.finish_reasons': ['tool_calls'],
        'gen_ai.usage.input_tokens': 11,
      }),
    },
  ]);
});

test('a whole conversation with tool results reaches the provider in its own protocol', async () => {
  await using endpoint = await startEndpoint((response) => answerText(response, 'Done.'));
  await collect(modelAt(endpoint), {
    ...question,
    messages: [
      { role: 'user', text: 'Hello' },
      {
        role: 'assistant',
        text: 'Looking.',
        calls: [
          { id: 'a', name: 'fs_read', arguments: { kind: 'parsed', value: { path: 'x' } } },
          { id: 'b', name: 'fs_read', arguments: { kind: 'unreadable', text: '{oops', reason: 'not JSON' } },
        ],
      },
      { role: 'tool', callId: 'a', name: 'fs_read', text: 'one' },
      { role: 'tool', callId: 'b', name: 'fs_read', text: 'two' },
    ],
  });
  expect(endpoint.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    body: {
      model: 'asked-model',
      stream: true,
      stream_options: { include_usage: true },
      tool_choice: 'auto',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: 'Looking.',
          tool_calls: [
            { id: 'a', function: { name: 'fs_read', arguments: '{"path":"x"}' } },
            { id: 'b', function: { arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
        { role: 'tool', tool_call_id: 'b', content: 'two' },
      ],
    },
  });
});

test("no header but the protocol's own reaches the provider", async () => {
  await using endpoint = await startEndpoint((response) => answerText(response, 'Hi.'));
  await collect(modelAt(endpoint, { apiKey: new SecretKey('a-key') }));
  const names = Object.keys(endpoint.requests[0]!.headers).sort();
  expect(
    names.filter(
      (name) =>
        !/^(accept|accept-encoding|accept-language|authorization|connection|content-length|content-type|host|sec-fetch-mode|user-agent)$/.test(
          name,
        ),
    ),
  ).toEqual([]);
});

test('the openai provider speaks chat completions with the bearer key', async () => {
  await using endpoint = await startEndpoint((response) => answerText(response, 'Hi.'));
  const parts = await collect(modelAt(endpoint, { provider: 'openai', apiKey: new SecretKey('openai-key') }));
  expect(parts.map((part) => part.kind)).toEqual(['text', 'finish']);
  expect(endpoint.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    headers: { authorization: 'Bearer openai-key' },
  });
});

test('the anthropic provider streams a tool call, counts cached tokens and marks what may be cached', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    const event = (type: string, data: object) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    event('message_start', {
      message: {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 20, output_tokens: 1, cache_read_input_tokens: 5, cache_creation_input_tokens: 3 },
      },
    });
    event('content_block_start', {
      index: 0,
      content_block: { type: 'tool_use', id: 'tu1', name: 'fs_read', input: {} },
    });
    event('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: '{"path":"b.txt"}' } });
    event('content_block_stop', { index: 0 });
    event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } });
    event('message_stop', {});
    response.end();
  });
  const parts = await collect(
    modelAt(endpoint, { provider: 'anthropic', model: 'claude-sonnet-5-5', apiKey: new SecretKey('anthropic-key') }),
  );
  expect(parts).toMatchObject([
    { kind: 'toolCall', id: 'tu1', name: 'fs_read', arguments: { kind: 'parsed', value: { path: 'b.txt' } } },
    {
      kind: 'finish',
      reason: 'toolCalls',
      usage: { inputTokens: 28, outputTokens: 9, cachedInputTokens: 5, cacheWriteTokens: 3 },
      microdollars: null,
    },
  ]);
  expect(endpoint.requests[0]).toMatchObject({
    path: '/v1/messages',
    headers: { 'x-api-key': 'anthropic-key' },
    body: {
      system: [{ cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ cache_control: { type: 'ephemeral' } }] }],
    },
  });
});

test('arguments that are no JSON object come back as text with the reason', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(
      chunk({
        tool_calls: [
          { index: 0, id: 'c', type: 'function', function: { name: 'fs_read', arguments: '{"path": oops' } },
        ],
      }),
    );
    response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
  });
  const [call] = await collect(modelAt(endpoint));
  expect(call).toMatchObject({ kind: 'toolCall', arguments: { kind: 'unreadable', text: '{"path": oops' } });
});

test('an answer ended by the content filter finishes as refused, its tokens counted', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.end(`${chunk({ content: 'I' })}${chunk({}, 'content_filter')}${usageChunk(simpleUsage)}data: [DONE]\n\n`);
  });
  expect((await collect(modelAt(endpoint))).at(-1)).toMatchObject({
    kind: 'finish',
    reason: 'refused',
    usage: { inputTokens: 11 },
  });
});

test.each([
  ['in seconds', { 'retry-after': '7' }, 7000],
  ['as a date', { 'retry-after': 'Mon, 30 Nov 2026 00:00:12 GMT' }, 12_000],
  ['in milliseconds', { 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
])('a rate limit is waited out as the provider asks %s', async (_, headers, expectedMs) => {
  await using endpoint = await startEndpoint((response, _request, count) =>
    count === 1 ? answerJson(response, 429, { error: { message: 'slow down' } }, headers) : answerText(response, 'Hi.'),
  );
  const clock = hastyClock();
  expect(await collect(modelAt(endpoint, { clock }))).toHaveLength(2);
  expect(clock.waits).toEqual([expectedMs]);
});

test('a wait longer than the policy allows goes up with the error', async () => {
  await using endpoint = await startEndpoint((response) =>
    answerJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '3600' }),
  );
  const failure = await failureOf(modelAt(endpoint));
  expect(failure).toMatchObject({ code: 'MODEL_RATE_LIMITED', remedy: 'retry', details: { retryAfterMs: 3_600_000 } });
  expect(endpoint.requests).toHaveLength(1);
});

test('retries are bounded and spread', async () => {
  await using endpoint = await startEndpoint((response) =>
    answerJson(response, 529, { error: { type: 'overloaded_error', message: 'busy' } }),
  );
  const clock = hastyClock();
  const failure = await failureOf(modelAt(endpoint, { clock, random: () => 0.5, retries: { attempts: 3 } }));
  expect(failure.code).toBe('MODEL_OVERLOADED');
  expect(clock.waits).toEqual([375, 750]);
  expect(endpoint.requests).toHaveLength(3);
});

test('a stream cut before its first part is tried again unseen', async () => {
  await using endpoint = await startEndpoint((response, _request, count) => {
    if (count > 1) return answerText(response, 'Hi.');
    startStream(response);
    response.flushHeaders();
    response.destroy();
  });
  expect(await collect(modelAt(endpoint))).toHaveLength(2);
  expect(endpoint.requests).toHaveLength(2);
});

test('a stream cut after its first part goes up and is not tried again', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'par' }), () => response.destroy());
  });
  expect(await failureOf(modelAt(endpoint))).toMatchObject({ code: 'MODEL_STREAM_CUT', remedy: 'retry' });
  expect(endpoint.requests).toHaveLength(1);
});

test('a stream that closes without a finish is a cut, never an answer', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.end(chunk({ content: 'half' }));
  });
  expect((await failureOf(modelAt(endpoint))).code).toBe('MODEL_STREAM_CUT');
});

test.each([
  [401, { error: { message: 'Incorrect API key provided' } }, 'MODEL_CREDENTIAL_REFUSED', 'operator'],
  [403, { error: { message: 'no access' } }, 'MODEL_CREDENTIAL_REFUSED', 'operator'],
  [404, { error: { message: 'The model `x` does not exist', code: 'model_not_found' } }, 'MODEL_UNKNOWN', 'operator'],
  [400, { error: { message: 'Unknown model: x' } }, 'MODEL_UNKNOWN', 'operator'],
  [
    429,
    { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
    'MODEL_QUOTA_EXHAUSTED',
    'operator',
  ],
  [
    400,
    { error: { message: "This model's maximum context length is 8192 tokens", code: 'context_length_exceeded' } },
    'MODEL_CONTEXT_TOO_LONG',
    'caller',
  ],
  [413, { error: { message: 'too large' } }, 'MODEL_CONTEXT_TOO_LONG', 'caller'],
  [400, { error: { message: 'filtered', code: 'content_filter' } }, 'MODEL_CONTENT_REFUSED', 'caller'],
  [400, { error: { message: 'does not support tools' } }, 'MODEL_REQUEST_REFUSED', 'operator'],
])('status %i with %j is %s', async (status, body, code, remedy) => {
  await using endpoint = await startEndpoint((response) => answerJson(response, status, body));
  expect(await failureOf(modelAt(endpoint))).toMatchObject({ code, remedy });
  expect(endpoint.requests).toHaveLength(1);
});

test.each([
  [
    'a server error',
    (endpoint: Parameters<Parameters<typeof startEndpoint>[0]>[0]) =>
      answerJson(endpoint, 500, { error: { message: 'boom' } }),
    'MODEL_SERVER_FAILED',
  ],
  [
    'lines that are not JSON',
    (response: Parameters<Parameters<typeof startEndpoint>[0]>[0]) => {
      startStream(response);
      response.end('data: }{\n\n');
    },
    'MODEL_ANSWER_UNREADABLE',
  ],
  [
    'JSON of another protocol',
    (response: Parameters<Parameters<typeof startEndpoint>[0]>[0]) => {
      startStream(response);
      response.end('data: {"hello":1}\n\n');
    },
    'MODEL_ANSWER_UNREADABLE',
  ],
  [
    'a web page',
    (response: Parameters<Parameters<typeof startEndpoint>[0]>[0]) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html>');
    },
    'MODEL_ANSWER_UNREADABLE',
  ],
  [
    'an error inside the stream',
    (response: Parameters<Parameters<typeof startEndpoint>[0]>[0]) => {
      startStream(response);
      response.end('data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n');
    },
    'MODEL_OVERLOADED',
  ],
])('%s is retried and then told', async (_, answer, code) => {
  await using endpoint = await startEndpoint((response) => answer(response));
  expect(await failureOf(modelAt(endpoint, { retries: { attempts: 2 } }))).toMatchObject({ code, remedy: 'retry' });
  expect(endpoint.requests).toHaveLength(2);
});

test('a redirect is not followed, so the key stays with its host', async () => {
  await using other = await startEndpoint((response) => answerText(response, 'stolen'));
  await using endpoint = await startEndpoint((response) => {
    response.writeHead(307, { location: `${other.url}/chat/completions` });
    response.end();
  });
  expect((await failureOf(modelAt(endpoint, { apiKey: new SecretKey('a-key') }))).code).toBe('MODEL_REQUEST_REFUSED');
  expect(other.requests).toHaveLength(0);
});

test('an address where nobody listens is unreachable', async () => {
  const endpoint = await startEndpoint(() => undefined);
  await endpoint[Symbol.asyncDispose]();
  expect(await failureOf(modelAt(endpoint, { retries: { attempts: 1 } }))).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    details: { address: endpoint.url },
  });
});

test('an answer that does not begin in time is given up', async () => {
  await using endpoint = await startEndpoint(() => undefined);
  const model = modelAt(endpoint, { clock: realClock, timeLimits: { firstByteMs: 30 }, retries: { attempts: 1 } });
  expect(await failureOf(model)).toMatchObject({ code: 'MODEL_TIMED_OUT', details: { phase: 'first byte' } });
});

test('an answer that falls silent is given up', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'one' }));
  });
  const model = modelAt(endpoint, { clock: realClock, timeLimits: { firstByteMs: 20_000, idleMs: 40 } });
  expect(await failureOf(model)).toMatchObject({ code: 'MODEL_TIMED_OUT', details: { phase: 'idle' } });
});

test('keep-alive comments are life, but only until the total limit', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    const timer = setInterval(() => response.write(': still here\n\n'), 10);
    response.on('close', () => clearInterval(timer));
  });
  const model = modelAt(endpoint, {
    clock: realClock,
    timeLimits: { firstByteMs: 20_000, idleMs: 500, totalMs: 1500 },
    retries: { attempts: 1 },
  });
  expect(await failureOf(model)).toMatchObject({ code: 'MODEL_TIMED_OUT', details: { phase: 'total' } });
});

test("an abort propagates at once, as the caller's own reason, and the provider sees the line drop", async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'one' }));
  });
  const controller = new AbortController();
  const reason = new Error('cancelled by a person');
  const reading = (async () => {
    for await (const part of modelAt(endpoint).stream({ ...question, signal: controller.signal }))
      if (part.kind === 'text') controller.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
  await expect.poll(() => endpoint.disconnects()).toBe(1);
});

test('an abort before and while waiting for a retry asks nothing more of the provider', async () => {
  await using endpoint = await startEndpoint((response) => answerJson(response, 500, {}));
  await expect(
    collect(modelAt(endpoint), { ...question, signal: AbortSignal.abort(new Error('before')) }),
  ).rejects.toThrow('before');
  expect(endpoint.requests).toHaveLength(0);
  const controller = new AbortController();
  const clock = {
    now: () => 0,
    after: (delayMs: number) => {
      if (delayMs < 1_000_000) controller.abort(new Error('while waiting'));
      return () => undefined;
    },
  };
  await expect(collect(modelAt(endpoint, { clock }), { ...question, signal: controller.signal })).rejects.toThrow(
    'while waiting',
  );
  expect(endpoint.requests).toHaveLength(1);
});

test('a reader that leaves early closes the connection', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'one' }));
  });
  for await (const part of modelAt(endpoint).stream(question)) if (part.kind === 'text') break;
  await expect.poll(() => endpoint.disconnects()).toBe(1);
});

test('an endless answer ends at the byte limit', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    const write = () => {
      while (
        !response.destroyed &&
        response.write(
          chunk({
            tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'x', arguments: 'a'.repeat(1000) } }],
          }),
        )
      );
    };
    response.on('drain', write);
    write();
  });
  const failure = await failureOf(modelAt(endpoint, { answerLimitBytes: 100_000, retries: { attempts: 1 } }));
  expect(failure.code).toBe('MODEL_ANSWER_UNREADABLE');
});

test('the key is in no error, log line or JSON, even when the endpoint echoes it', async () => {
  const key = 'very"secret/key+1';
  const echoes = [key, JSON.stringify(key), encodeURIComponent(key), Buffer.from(key).toString('base64')];
  for (const status of [400, 401, 429, 500]) {
    await using endpoint = await startEndpoint((response) =>
      answerJson(
        response,
        status,
        { error: { message: `you sent ${echoes.join(' and ')}` } },
        { 'x-echo': encodeURIComponent(key) },
      ),
    );
    const model = modelAt(endpoint, { apiKey: new SecretKey(key), retries: { attempts: 1 } });
    const failure = await failureOf(model);
    const shown = [
      failure.stack,
      failure.message,
      JSON.stringify(failure),
      inspect(failure, { depth: 20, showHidden: true }),
      JSON.stringify(model),
      inspect(model, { depth: 20, showHidden: true }),
    ].join('\n');
    for (const echo of echoes) expect(shown).not.toContain(echo);
    expect(endpoint.requests[0]!.headers.authorization).toBe(`Bearer ${key}`);
  }
});

test('the prompt is in no error', async () => {
  await using endpoint = await startEndpoint((response) => answerJson(response, 400, { error: { message: 'bad' } }));
  const failure = await failureOf(modelAt(endpoint), { ...question, system: 'PRIVATE-PROMPT' });
  expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain('PRIVATE-PROMPT');
});

test('every call is recorded once, with its attempts, attributes and failure code', async () => {
  const records: ModelCallRecord[] = [];
  await using endpoint = await startEndpoint((response, _request, count) =>
    count === 2 ? answerText(response, 'Hi.') : answerJson(response, count === 1 ? 500 : 401, {}),
  );
  const model = modelAt(endpoint, { onCall: (record) => records.push(record) });
  await collect(model);
  await failureOf(model);
  expect(records).toMatchObject([
    {
      attempts: 2,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'asked-model',
        'gen_ai.usage.output_tokens': 7,
        'server.address': '127.0.0.1',
      },
    },
    { attempts: 1, errorCode: 'MODEL_CREDENTIAL_REFUSED', attributes: { 'error.type': 'MODEL_CREDENTIAL_REFUSED' } },
  ]);
  expect(records[0]).not.toHaveProperty('errorCode');
});
