import { createConnection } from 'node:net';
import { connect } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { Client, DatabaseError } from 'pg';
import type { ServerName } from './source.ts';

/** A server answered, and says which version it is; or why it did not. */
export type Probe =
  | { readonly kind: 'answers'; readonly version: string }
  /** `refused`: it is there, and the password is not its own; waiting does not help. */
  | { readonly kind: 'silent'; readonly reason: string; readonly refused?: true };

const probeMs = 3_000;

/** Asks a server at `url` for its version, with the credentials in the URL. Takes at most `withinMs` (default 3000). */
export async function probeServer(server: ServerName, url: string, withinMs = probeMs): Promise<Probe> {
  const probe = { nats: probeNats, redis: probeRedis, postgres: probePostgres }[server];
  try {
    return { kind: 'answers', version: await probe(url, withinMs) };
  } catch (error) {
    return { kind: 'silent', reason: describe(error), ...(isWrongPassword(error) && { refused: true }) };
  }
}

/** Postgres keeps the password with its data; NATS and Redis are told theirs at each start. */
function isWrongPassword(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '28P01';
}

async function probeNats(url: string, timeout: number): Promise<string> {
  const address = new URL(url);
  const connection = await connect({
    // Without the credentials: the client takes the digits after any colon for the port.
    servers: `${address.protocol}//${address.host}`,
    timeout,
    reconnect: false,
    ...(address.username !== '' && { user: decodeURIComponent(address.username) }),
    ...(address.password !== '' && { pass: decodeURIComponent(address.password) }),
  });
  try {
    return connection.info?.version ?? 'unknown';
  } finally {
    await connection.close();
  }
}

/** Asks a NATS server for its version without logging in: it says so to whoever connects. */
export async function probeBanner(url: string, withinMs = probeMs): Promise<Probe> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = createConnection({ host: hostname, port: Number(port || '4222'), timeout: withinMs });
    const finish = (probe: Probe): void => {
      socket.destroy();
      resolve(probe);
    };
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      const version = /^INFO .*"version":"([^"]+)"/.exec(text)?.[1];
      if (version !== undefined) finish({ kind: 'answers', version });
    });
    socket.on('timeout', () => finish({ kind: 'silent', reason: `nothing within ${withinMs / 1_000} s` }));
    socket.on('error', (error) => finish({ kind: 'silent', reason: describe(error) }));
    socket.on('close', () => finish({ kind: 'silent', reason: 'it hung up' }));
  });
}

async function probeRedis(url: string, connectTimeout: number): Promise<string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout,
    commandTimeout: connectTimeout,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  let failure: unknown;
  // Without a listener the client prints to the console; the first error is the one that says why.
  redis.on('error', (error) => (failure ??= error));
  try {
    await redis.connect();
    const information = await redis.info('server');
    return /redis_version:(\S+)/.exec(information)?.[1] ?? 'unknown';
  } catch (error) {
    throw failure ?? error;
  } finally {
    redis.disconnect();
  }
}

async function probePostgres(connectionString: string, timeout: number): Promise<string> {
  const client = new Client({ connectionString, connectionTimeoutMillis: timeout, query_timeout: timeout });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version.split(' ')[0] ?? 'unknown';
  } finally {
    await client.end().catch(() => undefined);
  }
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}
