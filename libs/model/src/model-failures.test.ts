import { expect, test } from 'vitest';
import { hastyClock } from './clock.fixture.ts';
import { answerJson, answerText, chunk, startEndpoint, startStream } from './endpoint.fixture.ts';
import { collect, failureOf, modelAt } from './model.fixture.ts';

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

test('a web page is told as one, with the address that it came from', async () => {
  await using endpoint = await startEndpoint((response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>');
  });
  const failure = await failureOf(modelAt(endpoint, { retries: { attempts: 1 } }));
  expect(failure.message).toBe('The answer of compatible is not its own protocol: it is a web page');
  expect(failure.advice).toContain(`Check that ${endpoint.url} speaks`);
});

test('an address where nobody listens is unreachable', async () => {
  const endpoint = await startEndpoint(() => undefined);
  await endpoint[Symbol.asyncDispose]();
  expect(await failureOf(modelAt(endpoint, { retries: { attempts: 1 } }))).toMatchObject({
    code: 'MODEL_UNREACHABLE',
    details: { address: endpoint.url },
  });
});
