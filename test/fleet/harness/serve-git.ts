import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GitServer {
  readonly port: number;
  close(): Promise<void>;
}

/** The repositories of a directory over HTTP, by git's own http-backend. Everybody is let in, or who `admits` says. */
export async function serveGit(
  root: string,
  admits: (authorization: string) => boolean = () => true,
): Promise<GitServer> {
  const server = createServer((request, response) => {
    if (admits(request.headers.authorization ?? '')) return answer(root, request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The password of an authorization of kind Basic. */
export function passwordOf(authorization: string): string | undefined {
  return /:(.*)$/s.exec(Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString())?.[1];
}

function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'fleet',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
    },
  });
  // A client that hangs up, and a backend that ends without reading, are both ordinary.
  for (const stream of [request, response, backend.stdin]) stream.on('error', () => undefined);
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  backend.on('close', () => {
    const output = Buffer.concat(chunks);
    const split = output.indexOf('\r\n\r\n');
    const lines = output.subarray(0, split).toString().split('\r\n');
    const fields = Object.fromEntries(lines.map((line) => line.split(/:\s*(.*)/s).slice(0, 2) as [string, string]));
    const status = Number(fields['Status']?.slice(0, 3) ?? '200');
    delete fields['Status'];
    response.writeHead(status, fields).end(output.subarray(split + 4));
  });
}
