import { connect, type AddressInfo } from 'node:net';
import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { Problem } from '@flotilla/contracts/problem';
import { defineError, FlotillaError } from '@flotilla/errors/flotilla-error';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { BODY_LIMIT_BYTES } from './body-limit.ts';
import { createServerFixture, exampleRunId, fullToken, readToken, type ServerFixture } from './server.fixture.ts';

const { routes: routeList, server: listed } = createServerFixture();
afterAll(() => listed.close());

let fixture: ServerFixture;
beforeEach(() => {
  fixture = createServerFixture();
  return () => fixture.server.close();
});

/** Head and body of what a listening server says to these bytes. */
async function sendRaw(sent: string): Promise<readonly [head: string, body: string]> {
  if (!fixture.server.server.listening) await fixture.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fixture.server.server.address() as AddressInfo;
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    socket.on('close', () => resolve(text)).on('error', reject);
  });
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  return [head, body];
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const inject = (method: string, url: string, headers: Record<string, string> = bearer(fullToken), payload?: string) =>
  fixture.server.inject({
    method: method as 'GET', // the route list holds the methods that were registered
    url,
    headers: { host: 'localhost:4800', ...headers },
    ...(payload === undefined ? {} : { payload }),
  });
const filled = (url: string) =>
  url.replace(':runId', exampleRunId).replace(':gateId', 'gate_01j9z3k8m2n4p6q8r0s2t4v6w8').replace(/:\w+/, '1');

const open = ['/health', '/ready'];
const closed = routeList
  .filter(({ url, method }) => !open.includes(url) && method !== 'HEAD')
  .map(({ method, url }) => [method, url] as const);

test('every call of the catalogue has a route', () => {
  expect(routeList).toHaveLength(callCatalogue.length + 8);
});

test.each(closed)('%s %s refuses whoever shows no token', async (method, url) => {
  const response = await inject(method, filled(url), {});
  expect(response.statusCode).toBe(401);
  expect(Problem.parse(response.json())).toMatchObject({ code: 'TOKEN_MISSING' });
  expect(response.headers['www-authenticate']).toMatch(/realm/);
});

test.each(closed)('%s %s refuses a token that nobody was given', async (method, url) => {
  const response = await inject(method, filled(url), bearer('guess'));
  expect([response.statusCode, response.json<Problem>().code]).toEqual([401, 'TOKEN_REFUSED']);
});

test.each(closed)('%s %s refuses a token in the URL, even a right one', async (method, url) => {
  const response = await inject(method, `${filled(url)}?Token=${fullToken}`);
  expect([response.statusCode, response.json<Problem>().code]).toEqual([400, 'TOKEN_IN_URL']);
  expect(JSON.stringify(fixture.logged)).not.toContain(fullToken);
});

test.each(open)('%s answers without a token', async (url) => {
  expect((await inject('GET', url, {})).statusCode).toBe(200);
});

test.each([
  ['GET', '/nothing'],
  ['GET', '/v1/runs/%zz'],
  ['GET', '/health/'],
])('%s %s is nothing, and is refused without a token all the same', async (method, url) => {
  expect((await inject(method, url, {})).statusCode).toBe(401);
  expect((await inject(method, url)).statusCode).toBe(404);
});

test.each([
  ['DELETE', '/v1/runs', 'GET'],
  ['HEAD', '/v1/runs', 'GET'],
  ['OPTIONS', '/v1/tasks', 'POST'],
  ['POST', '/health', 'GET, HEAD'],
  ['PUT', `/v1/runs/${exampleRunId}/cancel`, 'POST'],
  ['GET', '/v1/gates/g/decision?x=1', 'POST'],
])('%s %s is refused with the methods there are, to whoever has a token', async (method, url, allowed) => {
  expect((await inject(method, url, {})).statusCode).toBe(401);
  const response = await inject(method, url);
  expect([response.statusCode, response.headers['allow']]).toEqual([405, allowed]);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  if (method !== 'HEAD') expect(response.json()).toMatchObject({ code: 'METHOD_UNKNOWN' });
});

test.each([...open, '/v1/openapi.json', '/reference'])('HEAD %s is as GET without a body', async (url) => {
  const ask = (method: string) =>
    sendRaw(
      `${method} ${url} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${fullToken}\r\nconnection: close\r\n\r\n`,
    );
  const [[head, body], [getHead, getBody]] = [await ask('HEAD'), await ask('GET')];
  expect([head.slice(0, 12), body]).toEqual(['HTTP/1.1 200', '']);
  expect(getBody.length).toBeGreaterThan(10);
  const withoutDate = (text: string) => text.replace(/^date: .*$/im, '');
  expect(withoutDate(head)).toBe(withoutDate(getHead));
  if (!open.includes(url)) expect((await inject('HEAD', url, {})).statusCode).toBe(401);
});

test.each([
  ['no HTTP', 'nonsense\r\n\r\n', 400, 'REQUEST_UNREADABLE'],
  ['a method that does not exist', 'NOPE / HTTP/1.1\r\n\r\n', 400, 'REQUEST_UNREADABLE'],
  ['headers without an end', `GET / HTTP/1.1\r\nx: ${'x'.repeat(32_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
])('%s is answered with a problem too', async (_, sent, status, code) => {
  const [head, body] = await sendRaw(sent);
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toContain('content-type: application/problem+json');
  expect(head).toContain('x-content-type-options: nosniff');
  expect(Problem.parse(JSON.parse(body))).toMatchObject({ code, status });
});

test.each(
  callCatalogue
    .filter(({ roles }) => !roles.includes('read'))
    .map(({ name, http }) => [name, http.method, http.path] as const),
)('%s refuses a token that may only read', async (_, method, path) => {
  const response = await inject(
    method,
    filled(path.replace(/\{(\w+)\}/g, ':$1')),
    bearer(readToken),
    method === 'POST' ? '{}' : undefined,
  );
  expect([response.statusCode, response.json<Problem>().code]).toEqual([403, 'ROLE_MISSING']);
  expect(fixture.forwarded).toEqual([]);
});

test('a foreign name for this machine is refused before the token is looked at', async () => {
  const response = await inject('GET', '/v1/runs', { ...bearer(fullToken), host: 'evil.example' });
  expect([response.statusCode, response.json<Problem>().code]).toEqual([403, 'HOST_REFUSED']);
});

test('a page of another origin is refused and told nothing that would let it in', async () => {
  const response = await inject('GET', '/v1/runs', { ...bearer(fullToken), origin: 'https://evil.example' });
  expect([response.statusCode, response.json<Problem>().code]).toEqual([403, 'ORIGIN_REFUSED']);
  expect(response.headers['access-control-allow-origin']).toBeUndefined();
});

const task = JSON.stringify({ goal: 'Make slugify keep digits.', project: 'slugify' });
const json = { ...bearer(fullToken), 'content-type': 'application/json' };

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonp'])(
  'a body sent as %s is refused',
  async (contentType) => {
    const response = await inject('POST', '/v1/tasks', { ...json, 'content-type': contentType }, task);
    expect([response.statusCode, response.json<Problem>().code]).toEqual([415, 'CONTENT_TYPE_REFUSED']);
    expect(fixture.forwarded).toEqual([]);
  },
);

test.each(['iso-8859-1', '"UTF-16"', 'utf-8; charset=latin1'])(
  'a body in the charset %s is refused',
  async (charset) => {
    const response = await inject(
      'POST',
      '/v1/tasks',
      { ...json, 'content-type': `application/json; charset=${charset}` },
      task,
    );
    expect([response.statusCode, response.json<Problem>().code]).toEqual([415, 'CONTENT_TYPE_REFUSED']);
    expect(fixture.forwarded).toEqual([]);
  },
);

test.each(['utf-8', '"UTF-8"', 'utf8'])('a body in the charset %s is taken', async (charset) => {
  const contentType = `application/json; charset=${charset}`;
  expect((await inject('POST', '/v1/tasks', { ...json, 'content-type': contentType }, task)).statusCode).toBe(200);
});

test('a path of bad spelling is told with its method', async () => {
  const { detail } = (await inject('GET', '/v1/runs/%zz')).json<Problem>();
  expect(detail).toContain('GET');
  expect(detail).not.toContain('  ');
});

test('a body over the limit is refused', async () => {
  const response = await inject('POST', '/v1/tasks', json, `{"goal":"${'x'.repeat(BODY_LIMIT_BYTES)}"}`);
  expect([response.statusCode, response.json<Problem>().code]).toEqual([413, 'BODY_TOO_LARGE']);
});

test('a body that is not what the call takes is refused field by field', async () => {
  const response = await inject('POST', '/v1/tasks', json, '{"goal":1,"project":"A"}');
  expect(response.statusCode).toBe(400);
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(response.json<Problem>().violations?.map(({ path }) => path)).toEqual(['goal', 'project']);
});

test.each([
  ['/v1/runs?project=nope', 'PROJECT_UNKNOWN'],
  ['/v1/gates?project=nope', 'PROJECT_UNKNOWN'],
  [`/v1/gates?runId=${exampleRunId}`, 'RUN_UNKNOWN'],
])('%s is told from an empty list', async (url, code) => {
  fixture.rows.length = 0;
  const response = await inject('GET', url);
  expect([response.statusCode, response.json<Problem>().code]).toEqual([404, code]);
  expect((await inject('GET', '/v1/runs')).json()).toEqual({ runs: [] });
});

test.each([
  ['log?type=nope', 'EVENT_TYPE_UNKNOWN', 'tool.finished'],
  ['log?type=run.ended&type=nope', 'EVENT_TYPE_UNKNOWN', 'tool.finished'],
  ['log?stepId=nope', 'STEP_UNKNOWN', 'build'],
  ['output?stepId=nope', 'STEP_UNKNOWN', 'build'],
])('%s is told from a log that has nothing of it', async (part, code, named) => {
  fixture.log.append('step.requested', { verb: 'build' }, { stepId: 'build', attempt: 1 });
  const problem = Problem.parse((await inject('GET', `/v1/runs/${exampleRunId}/${part}`)).json());
  expect(problem).toMatchObject({ status: 400, code, advice: expect.stringContaining(named) });
  for (const known of ['log?type=run.ended', 'log?stepId=build&after=9', 'output?stepId=build'])
    expect((await inject('GET', `/v1/runs/${exampleRunId}/${known}`)).statusCode, known).toBe(200);
});

test('a project that is unchecked and has checks is refused', async () => {
  const project = { name: 'a', remote: '/srv/a.git', unchecked: true, checks: ['npm test'] };
  const response = await inject('POST', '/v1/projects', json, JSON.stringify(project));
  expect([response.statusCode, response.json<Problem>().violations?.[0]?.path]).toEqual([400, 'unchecked']);
  expect(fixture.forwarded).toEqual([]);
});

test('who asks is who the token names, whatever else the request says', async () => {
  const forged = {
    'x-user-id': 'root',
    'x-principal': 'root',
    'x-forwarded-user': 'root',
    'flotilla-principal': 'root',
  };
  const response = await inject('POST', '/v1/tasks', { ...json, ...forged }, task);
  expect(response.json()).toEqual({ runId: exampleRunId, created: true, warnings: [] });
  expect(fixture.forwarded).toEqual([
    { call: 'submitTask', principal: 'anna', request: { goal: 'Make slugify keep digits.', project: 'slugify' } },
  ]);
});

test('a call without a body needs none', async () => {
  const response = await inject('POST', `/v1/runs/${exampleRunId}/retry`);
  expect(response.statusCode).toBe(200);
  expect(fixture.forwarded).toMatchObject([{ call: 'retryRun', request: { runId: exampleRunId } }]);
});

test('a refusal of the router reaches the client with its status, code and advice', async () => {
  const refusal = defineError({
    code: 'GATE_DECIDED',
    remedy: 'caller',
    status: 409,
    summary: 'The gate was decided by {by}',
    advice: 'Nothing to do.',
  });
  fixture.answerWith(() => Promise.reject(new FlotillaError(refusal, { by: 'ben' })));
  const response = await inject('POST', `/v1/runs/${exampleRunId}/cancel`, json, '{}');
  expect(response.statusCode).toBe(409);
  expect(response.json()).toMatchObject({
    code: 'GATE_DECIDED',
    detail: 'The gate was decided by ben',
    remedy: 'caller',
  });
});

test('what nobody foresaw is told to the log and not to the client', async () => {
  fixture.answerWith(() => Promise.reject(new Error('password=hunter2')));
  const response = await inject('POST', '/v1/tasks', json, task);
  expect([response.statusCode, response.json<Problem>().code]).toEqual([500, 'GATEWAY_FAILED']);
  expect(response.body).not.toContain('hunter2');
  expect(fixture.logged).toContainEqual(expect.objectContaining({ event: 'request_failed' }));
});

test('an answer that says more than the call has says only what the call has', async () => {
  fixture.answerWith(() => Promise.resolve({ runId: exampleRunId, created: true, internal: 'x' }));
  expect((await inject('POST', '/v1/tasks', json, task)).json()).toEqual({
    runId: exampleRunId,
    created: true,
    warnings: [],
  });
});

test('the reference is one page that loads and runs nothing, and opens with the token as password', async () => {
  const authorization = `Basic ${Buffer.from(`x:${readToken}`).toString('base64')}`;
  const response = await inject('GET', '/reference', { authorization });
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(response.body).not.toMatch(/<script|src=|https?:\/\/(?!git\.example\.com)/);
  for (const { name } of callCatalogue) expect(response.body).toContain(`id="${name}"`);
});

test('a password opens pages only', async () => {
  const authorization = `Basic ${Buffer.from(`x:${fullToken}`).toString('base64')}`;
  expect((await inject('GET', '/v1/openapi.json', { authorization })).statusCode).toBe(200);
  expect((await inject('GET', '/v1/runs', { authorization })).statusCode).toBe(401);
});

test('one line of the log tells of each request, with its template and without its query', async () => {
  await inject('GET', `/v1/runs/${exampleRunId}/log?after=0`);
  expect(fixture.logged).toEqual([
    expect.objectContaining({
      event: 'http_answered',
      method: 'GET',
      route: '/v1/runs/:runId/log',
      status: 200,
      principal: 'anna',
    }),
  ]);
});
