import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import type { CallContract } from '@flotilla/contracts/define-call';
import { problemOf } from '@flotilla/contracts/problem';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { runCommandLine } from './main.ts';

export const token = 'token-of-anna';

export interface Received {
  readonly call: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly headers: IncomingMessage['headers'];
}

type Answer = (request: Readonly<Record<string, unknown>>) => unknown;

/** An HTTP server that answers every call of the catalogue with its example, or as a test says. */
export async function createFleetFixture() {
  const received: Received[] = [];
  const answers = new Map<string, Answer>();
  /** Sends the frames of one connection; ends it when it returns. */
  let stream: (send: (text: string) => void, lastEventId: number) => Promise<void> | void = () => undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readBody(request);
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (url.pathname === '/ready') {
        const ready = Object.values(fixture.needs).every(Boolean);
        return response.writeHead(ready ? 200 : 503).end(JSON.stringify({ needs: fixture.needs }));
      }
      const found = findCall(request.method ?? '', url.pathname);
      if (request.headers.authorization !== `Bearer ${token}`)
        return sendError(response, new FlotillaError(errors.tokenRefused));
      if (found === undefined)
        return sendError(response, new FlotillaError(errors.routeUnknown, { method: '', path: url.pathname }));
      const { call, path } = found;
      const asked = {
        ...Object.fromEntries(url.searchParams),
        ...path,
        ...(body === '' ? {} : (JSON.parse(body) as object)),
      };
      received.push({ call: call.name, request: asked, headers: request.headers });
      if (call.kind === 'stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await stream((text) => response.write(text), Number(request.headers['last-event-id'] ?? 0));
        return response.end();
      }
      try {
        const answer = answers.get(call.name)?.(asked) ?? call.example.response;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
      } catch (error) {
        sendError(response, error as FlotillaError); // tests throw nothing else
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fixture = {
    url,
    received,
    /** What /ready says. */
    needs: { postgres: true, nats: true } as Readonly<Record<string, boolean>>,
    answer: (call: string, answer: Answer) => answers.set(call, answer),
    streamWith: (send: typeof stream) => (stream = send),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return fixture;
}

export type FleetFixture = Awaited<ReturnType<typeof createFleetFixture>>;

/** A fleet and somebody who may use it, with a configuration directory of their own. */
export async function createFleetUser() {
  const fleet = await createFleetFixture();
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-cli-'));
  return {
    fleet,
    directory,
    environment: { FLOTILLA_URL: fleet.url, FLOTILLA_TOKEN: token, XDG_CONFIG_HOME: directory },
    leave: async () => {
      fleet.close();
      await rm(directory, { recursive: true });
    },
  };
}

export interface Run {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  readonly stop?: AbortController;
  /** Told of each piece that is written to standard output. */
  readonly onOut?: (text: string) => void;
  /** Answers typed at the terminal; with it the command believes to sit at one. */
  readonly typed?: PassThrough;
  /** What another program writes to standard input. */
  readonly piped?: PassThrough;
}

/** Runs one command in this process as the launcher would. */
export async function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const stop = options.stop ?? new AbortController();
  const texts = { out: '', err: '' };
  const open = (name: 'out' | 'err') => {
    const sink = new PassThrough();
    sink.on('data', (chunk: Buffer) => {
      texts[name] += chunk.toString();
      if (name === 'out') options.onOut?.(chunk.toString());
    });
    return Object.assign(sink, { isTTY: options.typed !== undefined, columns: 100 }) as unknown as NodeJS.WriteStream;
  };
  const stdin = Object.assign(options.typed ?? options.piped ?? new PassThrough(), {
    isTTY: options.typed !== undefined,
  });
  const exitCode = await runCommandLine({
    argv,
    environment: { HOME: '/nonexistent', TERM: 'dumb', ...options.environment },
    workingDirectory: options.workingDirectory ?? '/',
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: open('out'),
    stderr: open('err'),
    signal: stop.signal,
    interrupt: () => stop.abort(new Error('interrupted')),
    now: () => new Date('2030-01-01T00:10:00.000Z'),
    version: '0.0.0',
  });
  await new Promise((resolve) => setImmediate(resolve));
  return { exitCode, ...texts };
}

function findCall(method: string, pathname: string): { call: CallContract; path: Record<string, string> } | undefined {
  for (const call of callCatalogue) {
    const pattern = new RegExp(`^${call.http.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const found = call.http.method === method ? pattern.exec(pathname) : null;
    if (found !== null) return { call, path: { ...found.groups } };
  }
  return undefined;
}

function sendError(response: ServerResponse, error: FlotillaError): void {
  response.writeHead(error.status, { 'content-type': 'application/problem+json' });
  response.end(JSON.stringify(problemOf(error)));
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}
