import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { RunEnded, TaskAccepted } from '@flotilla/contracts/events/run-events';
import { Problem } from '@flotilla/contracts/problem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServerFixture, exampleRunId, fullToken, type ServerFixture } from './server.fixture.ts';

const requestLimitMs = 300;
let fixture: ServerFixture;
let port: number;
/** Where a client may be slow for `requestLimitMs` alone: an honest one would be too slow for it on a busy machine. */
let hasty: ServerFixture;
let hastyPort: number;
const sockets = new Set<Socket>();

beforeAll(async () => {
  [fixture, hasty] = [createServerFixture(), createServerFixture({ requestLimitMs })];
  [port, hastyPort] = [await listen(fixture), await listen(hasty)];
});

async function listen({ server }: ServerFixture): Promise<number> {
  await server.listen({ host: '127.0.0.1', port: 0 });
  return (server.server.address() as AddressInfo).port;
}

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all([fixture.server.close(), hasty.server.close()]);
});

const head = (line: string, ...fields: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'host: localhost', `authorization: Bearer ${fullToken}`, ...fields, '', ''].join('\r\n');
const json = 'content-type: application/json';

function open(to = port): Socket {
  const socket = connect({ port: to, host: '127.0.0.1' });
  sockets.add(socket);
  socket.on('error', () => undefined);
  return socket;
}

interface Reply {
  readonly status: number;
  readonly problem: Problem | undefined;
}

/** Sends bytes as they are and reads until the server hangs up or has answered whole. */
function send(
  bytes: string | Uint8Array,
  { thenDrip, to }: { readonly thenDrip?: string | undefined; readonly to?: number } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = open(to);
    let text = '';
    const drip = setInterval(() => thenDrip !== undefined && socket.write(thenDrip), requestLimitMs / 6);
    const read = () => {
      const [top = '', body = ''] = text.split('\r\n\r\n', 2);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(top)?.[1]);
      const problem = /application\/problem\+json/.test(top) ? Problem.safeParse(readJson(body)).data : undefined;
      return {
        status,
        problem,
        whole: Buffer.byteLength(body) >= Number(/content-length: (\d+)/i.exec(top)?.[1] ?? Infinity),
      };
    };
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (read().whole) socket.destroy();
    });
    socket.on('close', () => {
      clearInterval(drip);
      if (text === '') reject(new Error('the server hung up without a word'));
      else resolve(read());
    });
    socket.write(bytes);
  });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

test.each([
  ['never ends its headers', `GET /v1/runs HTTP/1.1\r\nhost: localhost\r\n`, 'x-a: b\r\n'],
  ['never ends its body', head('POST /v1/tasks', json, 'content-length: 1000'), 'x'],
  ['never ends its chunks', head('POST /v1/tasks', json, 'transfer-encoding: chunked'), '1\r\nx\r\n'],
  ['never says anything more', 'GET /v1/ru', undefined],
])('a client that %s is told so within the limit and disconnected', async (_, begun, thenDrip) => {
  const { status, problem } = await send(begun, { thenDrip, to: hastyPort });
  expect([status, problem?.code]).toEqual([408, 'REQUEST_TOO_SLOW']);
  expect(problem?.advice).not.toBe('');
});

test('a hundred slow clients keep nobody from being answered', async () => {
  const slow = Array.from({ length: 100 }, () => open());
  for (const socket of slow) socket.write('POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\n');
  const { status } = await send(head('GET /v1/runs'));
  expect(status).toBe(200);
  for (const socket of slow) expect([socket.readyState, socket.bytesRead]).toEqual(['open', 0]);
});

test.each([
  ['whose length says so', head('POST /v1/tasks', json, 'content-length: 10000000000')],
  [
    'whose chunks add up',
    `${head('POST /v1/tasks', json, 'transfer-encoding: chunked')}50000\r\n${'x'.repeat(0x50000)}\r\n0\r\n\r\n`,
  ],
])('a body over the limit %s is 413 before it is read whole', async (_, request) => {
  const { status, problem } = await send(request);
  expect([status, problem?.code]).toEqual([413, 'BODY_TOO_LARGE']);
  expect(problem?.detail).toMatch(/262144/);
});

test.each([
  ['a nest of 100 000 lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'BODY_UNREADABLE'],
  ['a nest within a field', `{"goal":${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}}`, 'BODY_UNREADABLE'],
  ['a key twice', '{"goal":"a","goal":"b","project":"slugify"}', 'BODY_UNREADABLE'],
  ['a key twice in two spellings', '{"goal":"a","\\u0067oal":"b","project":"slugify"}', 'BODY_UNREADABLE'],
  ['a prototype', '{"goal":"a","project":"slugify","__proto__":{"mode":"auto"}}', 'BODY_UNREADABLE'],
  ['a constructor', '{"goal":"a","project":"slugify","constructor":{"prototype":{"x":1}}}', 'REQUEST_INVALID'],
  ['a list for a text', '{"goal":["a"],"project":"slugify"}', 'REQUEST_INVALID'],
  ['a number of a hundred thousand digits', `{"goal":${'9'.repeat(100_000)},"project":"slugify"}`, 'REQUEST_INVALID'],
  ['a goal over 64 KiB', JSON.stringify({ goal: 'é'.repeat(32 * 1024 + 1), project: 'slugify' }), 'REQUEST_INVALID'],
  ['a NUL in a goal', '{"goal":"a\\u0000","project":"slugify"}', 'REQUEST_INVALID'],
  ['half a character in a key', '{"goal":"a","project":"slugify","externalKey":"\\udc00"}', 'REQUEST_INVALID'],
  ['an unknown field', '{"goal":"a","project":"slugify","principal":"root"}', 'REQUEST_INVALID'],
  ['no JSON', 'goal=a', 'BODY_UNREADABLE'],
])('%s is 400 with what is wrong, and reaches nobody', async (_, body, code) => {
  const before = fixture.forwarded.length;
  const length = `content-length: ${Buffer.byteLength(body)}`;
  const { status, problem } = await send(head('POST /v1/tasks', json, length) + body);
  expect([status, problem?.code]).toEqual([400, code]);
  expect(problem?.advice).not.toBe('');
  expect(fixture.forwarded.length).toBe(before);
  expect(({} as { mode?: unknown }).mode).toBeUndefined();
});

test.each([
  ['/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd', 400, 'REQUEST_INVALID'],
  ['/v1/runs/..%2f..%2fopenapi.json', 400, 'REQUEST_INVALID'],
  ['/v1/../v1/runs/x', 404, 'ROUTE_UNKNOWN'],
  ['/v1/runs/%00', 400, 'REQUEST_INVALID'],
  ['/v1/runs/run_01j9z3k8m2n4p6q8r0s2t4v6w8%00', 400, 'REQUEST_INVALID'],
  ['/v1/runs/%zz', 404, 'ROUTE_UNKNOWN'],
  ['/v1/runs/%ff%fe', 404, 'ROUTE_UNKNOWN'],
  ['/v1/runs?project=%00', 400, 'REQUEST_INVALID'],
  ['/v1/runs?limit=1&limit=2', 400, 'REQUEST_INVALID'],
  ['/v1/runs?limit[]=1', 400, 'REQUEST_INVALID'],
  ['/v1/runs?__proto__=1', 400, 'REQUEST_INVALID'],
  ['/v1/runs?constructor=1', 400, 'REQUEST_INVALID'],
  ['/v1/runs?limit=1e9', 400, 'REQUEST_INVALID'],
  ['/v1/runs?limit=-1', 400, 'REQUEST_INVALID'],
  ['/v1/runs?limit=99999999999999999999', 400, 'REQUEST_INVALID'],
  ['//evil.example/v1/runs', 404, 'ROUTE_UNKNOWN'],
])('GET %s is %i %s', async (path, status, code) => {
  const reply = await send(head(`GET ${path}`));
  expect([reply.status, reply.problem?.code]).toEqual([status, code]);
});

test('a path without end is 404', async () => {
  const { status, problem } = await send(head(`GET /v1/runs/${'a'.repeat(5_000)}`));
  expect([status, problem?.code]).toEqual([404, 'ROUTE_UNKNOWN']);
});

test.each([
  ['two lengths', head('POST /v1/tasks', json, 'content-length: 2', 'content-length: 3')],
  ['a length and chunks', head('POST /v1/tasks', json, 'content-length: 2', 'transfer-encoding: chunked')],
  ['a line that is none', 'HELLO\r\n\r\n'],
  ['a NUL in a header', 'GET /v1/runs HTTP/1.1\r\nhost: local\0host\r\n\r\n'],
])('a request with %s is 400 and the connection ends', async (_, request) => {
  const { status, problem } = await send(request);
  expect([status, problem?.code]).toEqual([400, 'REQUEST_UNREADABLE']);
});

test('headers without end are 431', async () => {
  const { status, problem } = await send(head('GET /v1/runs', `x-a: ${'b'.repeat(100_000)}`));
  expect([status, problem?.code]).toEqual([431, 'HEADERS_TOO_LARGE']);
});

test.each(['-1', '1.5', '99', 'abc', '%31', '1\u00e9'])(
  'a Last-Event-ID of %s is 400 and says where the log ends',
  async (id) => {
    fixture.log.append(TaskAccepted.type, TaskAccepted.example);
    const { status, problem } = await send(head(`GET /v1/runs/${exampleRunId}/events`, `last-event-id: ${id}`));
    expect([status, problem?.code]).toEqual([400, 'LAST_EVENT_ID_INVALID']);
    expect(problem?.detail).toContain(String(fixture.log.entries.length));
  },
);

/** What comes until the stream is done or ends, without what the entries hold. */
function readUntilDone(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString().replace(/data: \{"event":"entry".*\n/g, '');
      if (text.includes('event: done')) socket.destroy();
    });
    socket.on('close', () => resolve(text));
  });
}

test('a thousand watchers on a thousand connections each see every entry once and in order, in bounded memory', async () => {
  const watched = createServerFixture();
  const watchedPort = await listen(watched);
  const count = 1_000;
  const bursts = 40;
  const before = watched.log.entries.length;
  const residentBefore = process.memoryUsage().rss;
  const watchers: Promise<string>[] = [];
  // Of a burst of more connections than the system lets wait it resets some, and the server never hears of them.
  while (watchers.length < count) {
    const sockets = Array.from({ length: 50 }, () => open(watchedPort));
    watchers.push(...sockets.map(readUntilDone));
    for (const socket of sockets)
      socket.write(head(`GET /v1/runs/${exampleRunId}/events?after=${before}`, 'accept: text/event-stream'));
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
  }
  for (let burst = 0; burst < bursts; burst += 1) {
    watched.log.append(TaskAccepted.type, { ...TaskAccepted.example, goal: 'x'.repeat(2_000) });
    await new Promise((resolve) => setImmediate(resolve));
  }
  watched.log.append(RunEnded.type, RunEnded.payload.parse(RunEnded.example));
  const received = await Promise.all(watchers);
  const grownBytes = process.memoryUsage().rss - residentBefore;
  const wanted = Array.from({ length: bursts + 1 }, (_, index) => before + index + 1);
  for (const text of received) {
    expect(text).toContain('event: done');
    expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(wanted);
  }
  expect(grownBytes).toBeLessThan(300_000_000);
  expect(watched.tails.size).toBe(0);
  await watched.server.close();
});
