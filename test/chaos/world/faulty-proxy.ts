import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Transform } from 'node:stream';

export type FaultyProxyOptions = ({ readonly host: string; readonly port: number } | { readonly path: string }) & {
  /** What the bytes of a client go through on their way to the server. Default: nothing. */
  readonly fromClient?: () => Transform;
};

/** A way to a server that can be taken away: everybody who uses its port goes through here. */
export interface FaultyProxy {
  readonly port: number;
  /** Ends every connection there is, at once. */
  cut(): void;
  /** Ends every connection, and each that is tried from now on. */
  refuse(): void;
  /** Keeps every connection and lets nothing through, as a network that swallows packets. */
  stall(): void;
  /** Lets everything through again; what was stalled comes after all. */
  heal(): void;
  close(): Promise<void>;
}

export async function startFaultyProxy(options: FaultyProxyOptions): Promise<FaultyProxy> {
  const passages = new Set<Passage>();
  let state: 'open' | 'refusing' | 'stalled' = 'open';
  const server = createServer((client) => {
    // A client that is refused may be gone already.
    client.on('error', () => client.destroy());
    if (state === 'refusing') return void client.resetAndDestroy();
    const passage = new Passage(client, connect(options), options.fromClient?.());
    passages.add(passage);
    passage.onEnd(() => passages.delete(passage));
    if (state === 'open') passage.open();
  });
  const cut = (): void => {
    for (const passage of passages) passage.cut();
  };
  await listen(server);
  return {
    // A TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    cut,
    refuse: () => {
      state = 'refusing';
      cut();
    },
    stall: () => {
      state = 'stalled';
      for (const passage of passages) passage.stall();
    },
    heal: () => {
      if (state === 'stalled') for (const passage of passages) passage.open();
      state = 'open';
    },
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One client's connection and ours to the server. */
class Passage {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #through: Transform | undefined;

  constructor(client: Socket, upstream: Socket, through: Transform | undefined) {
    this.#client = client;
    this.#upstream = upstream;
    this.#through = through;
    through?.pipe(upstream);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  }

  onEnd(tell: () => void): void {
    this.#client.on('close', tell);
  }

  open(): void {
    this.#client.pipe(this.#through ?? this.#upstream);
    this.#upstream.pipe(this.#client);
  }

  stall(): void {
    this.#client.unpipe();
    this.#upstream.unpipe();
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#upstream.destroy();
  }
}

async function listen(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
}
