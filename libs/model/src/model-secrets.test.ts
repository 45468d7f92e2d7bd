import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { answerJson, answerText, startEndpoint } from './endpoint.fixture.ts';
import { collect, failureOf, modelAt, question } from './model.fixture.ts';
import { SecretKey } from './secret-key.ts';

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

test('a redirect is not followed, so the key stays with its host', async () => {
  await using other = await startEndpoint((response) => answerText(response, 'stolen'));
  await using endpoint = await startEndpoint((response) => {
    response.writeHead(307, { location: `${other.url}/chat/completions` });
    response.end();
  });
  expect((await failureOf(modelAt(endpoint, { apiKey: new SecretKey('a-key') }))).code).toBe('MODEL_REQUEST_REFUSED');
  expect(other.requests).toHaveLength(0);
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
