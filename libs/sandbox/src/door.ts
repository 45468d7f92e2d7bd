import fs from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import http from 'node:http';
import type { Socket } from 'node:net';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { DirectoryHandle } from './directory-handle.ts';
import type { Admission } from './door-admission.ts';
import { admitAddresses, lookupAll } from './door-admission.ts';
import type { DoorTarget, DoorVerdict } from './door-rules.ts';
import { decideTarget, parseAuthority, parseDoorRule } from './door-rules.ts';

export interface DoorLimits {
  readonly connections: number;
  readonly requests: number;
  readonly headerBytes: number;
  /** All that may pass, both ways, as long as the door is open. */
  readonly totalBytes: number;
  readonly connectMs: number;
  readonly idleMs: number;
  /** The longest one connection may last. */
  readonly connectionMs: number;
}

/** One request at the door, told when it is over. */
export interface DoorRequest {
  readonly host: string;
  readonly port: number;
  readonly method: string;
  readonly verdict: DoorVerdict['kind'];
  /** Why it was refused, or what ended an allowed one badly. */
  readonly reason: string | undefined;
  readonly bytes: number;
  readonly durationMs: number;
}

export interface DoorGrant {
  /** `host` (ports 80 and 443) or `host:port`; nothing else is reachable. */
  readonly allow: readonly string[];
  /** `host:port` of `allow` whose addresses may be private, such as an internal package mirror. */
  readonly privateAllowed?: readonly string[];
  readonly onRequest?: (request: DoorRequest) => void;
  readonly limits?: Partial<DoorLimits>;
  /** All addresses of a host. Default: the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly string[]>;
}

export interface Door {
  close(): Promise<void>;
}

const defaultLimits: DoorLimits = {
  connections: 128,
  requests: 50_000,
  headerBytes: 16 * 1024,
  totalBytes: 8 * 1024 ** 3,
  connectMs: 10_000,
  idleMs: 60_000,
  connectionMs: 600_000,
};

const socketName = 'door.sock';
const gone = 'the client hung up';

/**
 * A forward proxy for one slot, on a unix socket in a directory that is bound into its container: CONNECT and plain HTTP, to
 * the hosts of the grant only. A host is looked up once, every address is judged, and the connection is made to an address
 * that was judged. Throws DOOR_REFUSED for a grant it cannot read.
 */
export async function openDoor(
  grant: DoorGrant,
  directory: string,
  { now }: { readonly now: () => number },
): Promise<Door> {
  const rules = grant.allow.map(parseDoorRule);
  const privateRules = (grant.privateAllowed ?? []).map(parseDoorRule);
  const limits = { ...defaultLimits, ...grant.limits };
  const lookup = grant.lookup ?? lookupAll;
  const sockets = new Set<Duplex>();
  const records = new Set<{ readonly onLimit: (reason: string) => void }>();
  let closed = false;
  let requests = 0;
  let passedBytes = 0;

  const server = http.createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: Math.min(limits.connectMs, limits.connectionMs),
    requestTimeout: limits.connectionMs,
    keepAliveTimeout: limits.idleMs,
  });
  server.maxConnections = limits.connections;
  server.on('connection', (socket) => track(socket));
  server.on('connect', (request, client, head) => void serveConnect(request, client, head));
  server.on('request', (request, response) => void servePlain(request, response));
  server.on('clientError', (_, socket) => answer(socket, 400, 'the request cannot be read'));
  const handle = await listen(server, directory);
  return { close };

  async function serveConnect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const target = parseAuthority(request.url ?? '', 443);
    if (target === undefined) return answer(client, 400, 'the target cannot be read');
    const record = startRecord(target, 'CONNECT');
    const admission = await admit(target);
    if (admission.kind === 'refused') {
      answer(client, 403, admission.reason);
      return record.end('refused', admission.reason);
    }
    if (client.destroyed) return record.end('allowed', gone);
    const upstream = net.connect({ ...target, lookup: admission.lookup });
    track(upstream);
    upstream.setTimeout(limits.connectMs, () => upstream.destroy(new Error('the host does not answer')));
    let established = false;
    upstream.once('connect', () => {
      established = true;
      upstream.setTimeout(limits.idleMs);
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      record.count(head.length);
      if (head.length > 0) upstream.write(head);
      for (const side of [upstream, client]) side.on('data', (chunk: Buffer) => record.count(chunk.length));
      upstream.pipe(client);
      client.pipe(upstream);
    });
    for (const side of [upstream, client]) {
      side.on('error', (error: Error) => closeBoth(error.message));
      side.on('close', () => closeBoth());
    }
    record.onLimit = closeBoth;

    function closeBoth(reason?: string): void {
      upstream.destroy();
      if (established) client.destroy();
      else answer(client, 502, reason ?? 'the connection was closed');
      record.end('allowed', reason);
    }
  }

  async function servePlain(request: IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
    const target = url?.protocol === 'http:' ? parseAuthority(url.host, 80) : undefined;
    if (url === undefined || target === undefined) {
      response.writeHead(400).end('the door forwards http:// and CONNECT requests only\n');
      return;
    }
    const record = startRecord(target, request.method ?? '?');
    const admission = await admit(target);
    if (admission.kind === 'refused') {
      response.writeHead(403).end(`${admission.reason}\n`);
      return record.end('refused', admission.reason);
    }
    if (response.destroyed) return record.end('allowed', gone);
    const headers = { ...withoutHopHeaders(request.headers), host: url.host };
    const path = `${url.pathname}${url.search}`;
    const { method } = request;
    const upstream = http.request({ ...target, method, path, headers, lookup: admission.lookup, agent: false });
    upstream.on('socket', track);
    upstream.setTimeout(limits.idleMs, () => upstream.destroy(new Error('the host does not answer')));
    record.onLimit = (reason) => {
      upstream.destroy();
      response.destroy();
      record.end('allowed', reason);
    };
    upstream.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, withoutHopHeaders(reply.headers));
      reply.on('data', (chunk: Buffer) => record.count(chunk.length));
      reply.pipe(response);
    });
    upstream.on('error', (error) => {
      if (!response.headersSent) response.writeHead(502).end(`${error.message}\n`);
      else response.destroy();
      record.end('allowed', error.message);
    });
    response.on('close', () => {
      upstream.destroy();
      record.end('allowed');
    });
    request.on('data', (chunk: Buffer) => record.count(chunk.length));
    request.pipe(upstream);
  }

  async function admit(target: DoorTarget): Promise<Admission> {
    requests += 1;
    if (requests > limits.requests) return { kind: 'refused', reason: 'too many requests' };
    if (passedBytes > limits.totalBytes) return { kind: 'refused', reason: 'too many bytes' };
    const listed = decideTarget(rules, target);
    if (listed.kind === 'refused') return listed;
    const admission = await admitAddresses(lookup, privateRules, target);
    return closed ? { kind: 'refused', reason: 'the door is closed' } : admission;
  }

  function startRecord(target: DoorTarget, method: string) {
    const started = now();
    let bytes = 0;
    let over = false;
    const timer = setTimeout(() => record.onLimit('it lasted too long'), limits.connectionMs);
    const record = {
      onLimit: (_reason: string): void => undefined,
      count(length: number): void {
        bytes += length;
        passedBytes += length;
        if (passedBytes > limits.totalBytes) record.onLimit('too many bytes');
      },
      end(verdict: DoorVerdict['kind'], reason?: string): void {
        if (over) return;
        over = true;
        clearTimeout(timer);
        records.delete(record);
        grant.onRequest?.({ ...target, method, verdict, reason, bytes, durationMs: now() - started });
      },
    };
    records.add(record);
    return record;
  }

  /** A sandbox may hang up at any moment, also while nobody listens to its connection: that ends the connection only. */
  function track(socket: Duplex): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  }

  async function close(): Promise<void> {
    closed = true;
    for (const record of records) record.onLimit('the door was closed');
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    handle[Symbol.dispose]();
  }
}

/**
 * The socket's path may be longer than a socket's path can be; through the open directory it is short. The directory stays
 * open as long as the server listens, which at its end removes the socket by that same path.
 */
async function listen(server: Server, directory: string): Promise<DirectoryHandle> {
  const handle = DirectoryHandle.openTrusted(directory);
  const path = handle.memberPath(socketName).toString();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ path }, resolve);
    });
  } catch (error) {
    handle[Symbol.dispose]();
    throw error;
  }
  // The forwarder in the container is root without capabilities: to the socket it is anybody.
  fs.chmodSync(path, 0o666);
  return handle;
}

const hopHeaders = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

function withoutHopHeaders(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...hopHeaders, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

function answer(socket: Socket | Duplex, status: number, reason: string): void {
  if (!socket.writable) return void socket.destroy();
  const body = `${reason}\n`;
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  socket.end(head + body);
  // Read on to its end, or the connection would never be closed.
  socket.resume();
}
