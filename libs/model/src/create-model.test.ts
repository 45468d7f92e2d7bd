import { expect, test } from 'vitest';
import type { ModelCallRecord } from './create-model.ts';
import {
  answerJson,
  answerText,
  chunk,
  simpleUsage,
  startEndpoint,
  startStream,
  usageChunk,
} from './endpoint.fixture.ts';
import { collect, failureOf, modelAt, question } from './model.fixture.ts';
import { SecretKey } from './secret-key.ts';

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
