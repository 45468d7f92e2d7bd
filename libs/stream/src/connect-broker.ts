import { jetstream, type JetStreamClient, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, createInbox, type NatsConnection } from '@nats-io/transport-node';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { translating } from './translate-error.ts';

export interface Broker {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** Whether the connection stands now. */
  readonly connected: boolean;
  /** A new subject that answers to this connection may go to. */
  createInbox(): string;
  /** Calls `listener` each time the connection is back. Returns how to stop. */
  onReconnect(listener: () => void): () => void;
  /** Waits until the connection stands, at most so long; whether it does. */
  untilConnected(limitMs: number): Promise<boolean>;
  /** Sends what waits and closes. Safe to repeat. */
  close(): Promise<void>;
}

export interface BrokerOptions {
  /** `nats://host:port`, also with `user:password@`; several separated by commas. */
  readonly url: string;
  /** Shown by the server's connection list. */
  readonly name: string;
  readonly user?: string;
  readonly password?: string;
  /** Subject prefix of answers to this connection; its user must be allowed to subscribe to it. Default `_INBOX`. */
  readonly inboxPrefix?: string;
  /** Told what happens to the connection. */
  readonly onStatus?: (status: { readonly type: string; readonly detail?: string }) => void;
}

const requestTimeoutMs = 5_000;

/** Everything that is asked of a server is there since this version; it is the one of Debian 12. */
export const OLDEST_SERVER = '2.9.10';

/** Versions have three numbers; what comes after them, as in `2.11.0-beta.1`, does not count. One that cannot be read is too old. */
export function isServerNewEnough(version: string): boolean {
  const numbers = (text: string) => (/^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number);
  const [given, oldest] = [numbers(version), numbers(OLDEST_SERVER)];
  const place = oldest.findIndex((number, index) => number !== given[index]);
  return place === -1 || (given[place] ?? -1) > (oldest[place] ?? 0);
}

/** Connects and stays connected: after the first success it reconnects for ever. Throws BROKER_UNAVAILABLE, BROKER_REFUSED or BROKER_TOO_OLD. */
export function connectBroker(options: BrokerOptions): Promise<Broker> {
  return translating(async () => {
    const { servers, user, password } = readUrl(options);
    const nc = await connect({
      servers,
      name: options.name,
      ...(user === undefined ? {} : { user, pass: password ?? '' }),
      ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 10_000,
      maxPingOut: 2,
      // A stack for each request that may fail costs more than the request.
      noAsyncTraces: true,
      timeout: requestTimeoutMs,
    });
    const version = nc.info?.version ?? 'unknown';
    if (!isServerNewEnough(version)) {
      await nc.close();
      throw new FlotillaError(errors.brokerTooOld, { version, oldest: OLDEST_SERVER });
    }
    const js = jetstream(nc, { timeout: requestTimeoutMs });
    const jsm = await jetstreamManager(nc, { timeout: requestTimeoutMs, checkAPI: false });
    return watchConnection(nc, js, jsm, options);
  });
}

function watchConnection(
  nc: NatsConnection,
  js: JetStreamClient,
  jsm: JetStreamManager,
  { onStatus, inboxPrefix }: BrokerOptions,
): Broker {
  const listeners = new Set<() => void>();
  let connected = true;
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') connected = false;
      if (status.type === 'reconnect') {
        connected = true;
        for (const listener of listeners) listener();
      }
      onStatus?.({ type: status.type, ...(status.type === 'error' ? { detail: status.error.message } : {}) });
    }
    connected = false;
  })();
  const stands = (): boolean => connected && !nc.isClosed();
  return {
    nc,
    js,
    jsm,
    get connected() {
      return stands();
    },
    createInbox: () => createInbox(inboxPrefix),
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    untilConnected: async (limitMs) => {
      if (stands() || nc.isClosed()) return stands();
      const back = Promise.withResolvers<undefined>();
      const goOn = (): void => back.resolve(undefined);
      listeners.add(goOn);
      const limit = setTimeout(goOn, limitMs);
      await back.promise;
      clearTimeout(limit);
      listeners.delete(goOn);
      return stands();
    },
    close: async () => {
      if (nc.isClosed()) return;
      // A drain waits for the server; without one it would wait for ever.
      await (connected ? nc.drain().catch(() => nc.close()) : nc.close());
    },
  };
}

function readUrl({ url, user, password }: BrokerOptions) {
  const urls = url.split(',').map((each) => new URL(each.includes('://') ? each : `nats://${each}`));
  const [first] = urls;
  const fromUrl = (part: string | undefined) =>
    part === undefined || part === '' ? undefined : decodeURIComponent(part);
  return {
    servers: urls.map(({ host, protocol }) => `${protocol}//${host}`),
    user: user ?? fromUrl(first?.username),
    password: password ?? fromUrl(first?.password),
  };
}
