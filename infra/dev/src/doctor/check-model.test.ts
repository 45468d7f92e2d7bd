import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { afterEach, expect, test } from 'vitest';
import { checkModel } from './check-model.ts';

const key = 'sk-live-0123456789abcdef';
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startModel() {
  const model = await startScriptedModel({ script: () => ({ text: '' }) as never, apiKey: key });
  closing.push(() => model.close());
  return model.url;
}
async function serve(status: number, body: string): Promise<string> {
  const server: Server = createServer(({ url }, response) =>
    url === '/v1/models' ? response.writeHead(status).end(body) : response.writeHead(404).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
const check = (model: string, secret?: string, limitMs = 5_000) =>
  checkModel({ FLOTILLA_MODEL: model, ...(secret === undefined ? {} : { FLOTILLA_MODEL_KEY: secret }) }, limitMs);

test('an endpoint that takes the key and has the model passes', async () => {
  expect(await check(`compatible:scripted@${await startModel()}`, key)).toMatchObject({ ok: true });
});

test('a wrong key, a model that is not there and an endpoint that does not answer are told apart, each with what to do', async () => {
  const url = await startModel();
  const gone = await serve(200, '');
  await closing.pop()?.();
  const findings = [
    await check(`compatible:scripted@${url}`, 'sk-wrong-0123456789'),
    await check(`compatible:scripted-2@${url}`, key),
    await check(`compatible:scripted@${gone}`, key),
  ];
  expect(findings).toMatchObject([
    { ok: false, detail: expect.stringContaining('refuses the configured key'), fix: expect.stringContaining('key') },
    { ok: false, detail: expect.stringMatching(/does not know the model scripted-2: it has scripted$/) },
    { ok: false, detail: expect.stringContaining('ECONNREFUSED'), fix: expect.stringContaining(gone) },
  ]);
});

test('one that says nothing is given up', async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const { port } = server.address() as AddressInfo;
  const finding = await check(`compatible:a@http://127.0.0.1:${port}/v1`, key, 50);
  expect(finding).toMatchObject({ ok: false, detail: expect.stringContaining('said nothing') });
});

test('the key is in no finding, whatever the endpoint answers', async () => {
  for (const [status, body] of [
    [401, `no such key: ${key}`],
    [500, `Bearer ${key}`],
    [200, `<html>${key}</html>`],
    [200, JSON.stringify({ data: [{ id: key }] })],
    [302, key],
  ] as const) {
    const finding = await check(`compatible:a@${await serve(status, body)}`, key);
    expect([status, finding.ok]).toEqual([status, false]);
    expect(JSON.stringify(finding)).not.toContain(key);
  }
});

test('no model, a name that cannot be one and an endpoint without a list are told', async () => {
  expect(await checkModel({})).toMatchObject({ ok: true, note: true });
  expect(await check('nonsense')).toMatchObject({ ok: false, detail: expect.stringContaining('FLOTILLA_MODEL') });
  expect(await check(`compatible:a@${await serve(404, '')}`)).toMatchObject({ ok: true, note: true });
});
