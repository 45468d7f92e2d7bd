import { createServer } from 'node:http';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** What a process needs to be ready, by name; asked at each request. */
export type ReadinessChecks = () => Promise<Readonly<Record<string, boolean>>>;

/** How long each part of a process has given no sign of life, by name; 0 where it may be silent. */
export type LifeSigns = () => Readonly<Record<string, number>>;

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

export interface HealthOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Of this process, told with its readiness: whoever started it knows by it that the answer is not another program's. */
  readonly pid: number;
  readonly checks: ReadinessChecks;
  readonly signs: LifeSigns;
}

/** Four times what the slowest round of a living part takes while its servers are away. */
export const DEAD_AFTER_MS = 60_000;

/**
 * GET /health: the process lives (200), or a part of it gave no sign of life for a minute, and only a restart helps (503). GET /ready: every check holds now
 * (200), or which does not (503), and the id of the process. Needs no token and tells nothing else. Throws HEALTH_ADDRESS_UNUSABLE.
 */
export async function startHealthServer({ host, port, pid, checks, signs }: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`);
    };
    const sendLife = (): void => {
      const dead = Object.entries(signs()).filter(([, silentMs]) => silentMs > DEAD_AFTER_MS);
      if (dead.length === 0) return send(200, { status: 'running' });
      send(503, { status: 'dead', silent: dead.map(([name]) => name) });
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, { error: 'only GET' });
    switch (request.url) {
      case '/health':
        return sendLife();
      case '/ready':
        checks().then(
          (results) => {
            const ready = Object.values(results).every(Boolean);
            send(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', pid, checks: results });
          },
          () => send(503, { status: 'not ready', pid }),
        );
        return;
      default:
        return send(404, { error: 'only /health and /ready' });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new FlotillaError(errors.healthAddressUnusable, { host, port, reason: cause.message }, { cause })),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether work ends well within the limit. */
export async function holdsWithin(limitMs: number, work: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  try {
    return await Promise.race([work().then(() => true), limit]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
