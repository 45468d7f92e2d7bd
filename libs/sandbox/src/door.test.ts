import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Door, DoorGrant, DoorRequest } from './door.ts';
import { openDoor } from './door.ts';

let directory: string;
let seen: DoorRequest[];
const opened: (Door | Server)[] = [];

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'flotilla-door-'));
  seen = [];
});
afterEach(async () => {
  for (const thing of opened.splice(0)) await (thing instanceof net.Server ? closeServer(thing) : thing.close());
  fs.rmSync(directory, { recursive: true, force: true });
});

const closeServer = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()));
const now = () => performance.now();

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(server);
  return (server.address() as AddressInfo).port;
}

/** An internal mirror, at a name that resolves to this machine. */
async function openWithMirror(port: number, grant: Partial<DoorGrant> = {}): Promise<void> {
  const rule = `mirror.internal:${port}`;
  const lookup = async () => ['127.0.0.1'];
  opened.push(
    await openDoor(
      { allow: [rule], privateAllowed: [rule], lookup, onRequest: (r) => seen.push(r), ...grant },
      directory,
      { now },
    ),
  );
}

const socketPath = () => path.join(directory, 'door.sock');

/** Sends raw bytes to the door and answers with all that comes back. */
async function exchange(
  text: string,
  after?: { readonly once: string; readonly send: string },
  hear: (got: string) => void = () => undefined,
): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath(), () => socket.write(text));
    let got = '';
    let sent = false;
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
      hear(got);
      if (after && !sent && got.includes(after.once)) {
        sent = true;
        socket.end(after.send);
      }
    });
    socket.on('error', () => undefined).on('close', () => resolve(got));
  });
}

/** Sends raw bytes to the door, and tells when the words have come and when it is over. */
function listenUntil(
  words: string,
  text: string,
): { readonly heard: Promise<undefined>; readonly over: Promise<string> } {
  const heard = Promise.withResolvers<undefined>();
  const over = exchange(text, undefined, (got) => got.includes(words) && heard.resolve(undefined));
  return { heard: heard.promise, over };
}

const connect = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;
const get = (url: string, extra = '') => `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${extra}\r\n`;
const status = (answer: string) => Number(answer.split(' ')[1]);

test('a tunnel to a listed host carries bytes both ways, and is told when it is over', async () => {
  const port = await listen(net.createServer((socket) => socket.pipe(socket)));
  await openWithMirror(port);
  const answer = await exchange(connect(`mirror.internal:${port}`), { once: '\r\n\r\n', send: 'echo this' });
  expect(answer).toBe('HTTP/1.1 200 Connection Established\r\n\r\necho this');
  expect(seen).toEqual([
    {
      host: 'mirror.internal',
      port,
      method: 'CONNECT',
      verdict: 'allowed',
      reason: undefined,
      bytes: 18,
      durationMs: expect.any(Number),
    },
  ]);
});

test("a plain request is forwarded without the headers that are the proxy's own", async () => {
  const port = await listen(
    http.createServer((request, response) => response.end(JSON.stringify([request.url, request.headers]))),
  );
  await openWithMirror(port);
  const answer = await exchange(
    get(`http://mirror.internal:${port}/a?b=c`, 'Proxy-Authorization: Basic eA==\r\nX-Kept: yes\r\n'),
  );
  expect(status(answer)).toBe(200);
  const [url, headers] = JSON.parse(answer.slice(answer.indexOf('['), answer.lastIndexOf(']') + 1));
  expect(url).toBe('/a?b=c');
  expect(headers).toMatchObject({ host: `mirror.internal:${port}`, 'x-kept': 'yes' });
  expect(headers).not.toHaveProperty('proxy-authorization');
  expect(seen).toMatchObject([{ method: 'GET', verdict: 'allowed' }]);
});

test.each([
  ['another host', connect('evil.example:443'), 'the host is not on the list'],
  ['another port', connect('mirror.internal:22'), 'the port is not on the list'],
  ['a listed name in front of another', connect('mirror.internal.evil.example:443'), 'the host is not on the list'],
  ['an address', connect('127.0.0.1:443'), 'the host is not on the list'],
  ['an address as a number', connect('2130706433:443'), 'the host is not on the list'],
  ['a plain request to another host', get('http://169.254.169.254/latest/meta-data'), 'the host is not on the list'],
])('%s is refused, and told', async (_, request, reason) => {
  await openWithMirror(1);
  expect(status(await exchange(request))).toBe(403);
  expect(seen).toMatchObject([{ verdict: 'refused', reason }]);
});

test.each([
  ['a target that is none', 'CONNECT http://x/ HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a path instead of a URL', get('/etc/passwd')],
  ['another scheme', get('https://mirror.internal/')],
  ['a file', get('file:///etc/passwd')],
])('%s is a bad request', async (_, request) => {
  await openWithMirror(1);
  expect(status(await exchange(request))).toBe(400);
});

test('user name and password in a URL change nothing about its host', async () => {
  await openWithMirror(1);
  expect(status(await exchange(get('http://mirror.internal:1@evil.example/')))).toBe(403);
  expect(seen).toMatchObject([{ host: 'evil.example' }]);
});

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
  'a listed host that resolves to %s is refused, with a control that is not',
  async (address) => {
    let reached = 0;
    const port = await listen(net.createServer((socket) => socket.end(String((reached += 1)))));
    const rule = `public.example:${port}`;
    await openWithMirror(port, { allow: [rule], privateAllowed: [], lookup: async () => ['93.184.216.34', address] });
    expect(status(await exchange(connect(rule)))).toBe(403);
    expect(reached).toBe(0);
    expect(seen).toMatchObject([{ verdict: 'refused', reason: `${address} is not a public address` }]);

    const [door] = opened.splice(-1);
    await (door as Door).close();
    await openWithMirror(port, { allow: [rule], privateAllowed: [rule] });
    expect(await exchange(connect(rule))).toContain('Established\r\n\r\n1');
  },
);

test('a host is looked up once, and the connection is made to what was judged', async () => {
  const port = await listen(net.createServer((socket) => socket.end('reached')));
  let lookups = 0;
  const flipping = async () => [(lookups += 1) === 1 ? '127.0.0.1' : '127.0.0.99'];
  await openWithMirror(port, { lookup: flipping });
  expect(await exchange(connect(`mirror.internal:${port}`))).toContain('reached');
  expect(lookups).toBe(1);
});

test('a host that does not answer or does not resolve is told, and the client hears of it', async () => {
  const closed = await listen(net.createServer());
  await closeServer(opened.pop() as Server);
  await openWithMirror(closed);
  expect(status(await exchange(connect(`mirror.internal:${closed}`)))).toBe(502);
  expect(seen).toMatchObject([{ verdict: 'allowed', reason: expect.stringContaining('ECONNREFUSED') }]);
});

test.each([
  ['a tunnel that is refused', 'CONNECT', []],
  ['a tunnel that is allowed', 'CONNECT', undefined],
  ['a plain request that is refused', 'GET', []],
  ['a plain request that is allowed', 'GET', undefined],
])('a client that hangs up during the look-up of %s ends that request only', async (_, method, privateAllowed) => {
  const port = await listen(net.createServer((socket) => void socket.on('error', () => undefined).resume()));
  const lookup = Promise.withResolvers<readonly string[]>();
  const lookingUp = Promise.withResolvers<undefined>();
  await openWithMirror(port, {
    ...(privateAllowed === undefined ? {} : { privateAllowed }),
    lookup: () => {
      lookingUp.resolve(undefined);
      return lookup.promise;
    },
  });
  const request = method === 'GET' ? get(`http://mirror.internal:${port}/`) : connect(`mirror.internal:${port}`);
  const client = net.connect(socketPath(), () => client.write(request));
  await lookingUp.promise;
  await new Promise<void>((resolve) => client.on('close', () => resolve()).destroy());
  // Once another has been answered, the door knows of the end of the first.
  expect(status(await exchange(connect('evil.example:443')))).toBe(403);
  lookup.resolve(['127.0.0.1']);
  await expect.poll(() => seen.map(({ method: asked }) => asked)).toEqual(['CONNECT', method]);
  expect(status(await exchange(connect('evil.example:443')))).toBe(403);
});

test('limits hold: bytes, requests, header size, and time', async () => {
  const flood = Buffer.alloc(1_000_000, 'x');
  const port = await listen(net.createServer((socket) => void socket.on('error', () => undefined).write(flood)));
  await openWithMirror(port, { limits: { totalBytes: 200_000, requests: 2, connectionMs: 60_000 } });
  const cut = await exchange(connect(`mirror.internal:${port}`));
  expect(cut.length).toBeLessThan(900_000);
  expect(status(await exchange(connect(`mirror.internal:${port}`)))).toBe(403);
  expect(status(await exchange(connect(`mirror.internal:${port}`)))).toBe(403);
  expect(seen.map(({ reason }) => reason)).toEqual(['too many bytes', 'too many bytes', 'too many requests']);
  expect(status(await exchange(get('http://x/', `X: ${'y'.repeat(20_000)}\r\n`)))).toBe(400);
});

test('a connection that lasts too long is ended', async () => {
  const port = await listen(net.createServer((socket) => void socket.on('error', () => undefined).write('hello')));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await openWithMirror(port, { limits: { connectionMs: 200_000 } });
  const passing = listenUntil('hello', connect(`mirror.internal:${port}`));
  await passing.heard;
  vi.advanceTimersByTime(199_999);
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(1);
  await passing.over;
  expect(seen).toMatchObject([{ reason: 'it lasted too long' }]);
});

test('a closed door ends what passes through it', async () => {
  const port = await listen(net.createServer((socket) => void socket.on('error', () => undefined).write('hello')));
  await openWithMirror(port);
  const door = opened.pop() as Door;
  const passing = listenUntil('hello', connect(`mirror.internal:${port}`));
  await passing.heard;
  await door.close();
  await passing.over;
  expect(seen).toMatchObject([{ verdict: 'allowed', reason: 'the door was closed' }]);
});

test('a grant that cannot be read opens no door', async () => {
  await expect(openDoor({ allow: ['https://x'] }, directory, { now })).rejects.toMatchObject({
    code: errors.doorRefused.code,
  });
  expect(fs.readdirSync(directory)).toEqual([]);
});

test('a path longer than that of a socket can be is no obstacle', async () => {
  const port = await listen(net.createServer((socket) => socket.end('reached')));
  const short = directory;
  directory = path.join(short, 'x'.repeat(120));
  fs.mkdirSync(directory);
  await openWithMirror(port);
  fs.symlinkSync(directory, path.join(short, 's'));
  directory = path.join(short, 's');
  expect(await exchange(connect(`mirror.internal:${port}`))).toContain('reached');
  directory = short;
});
