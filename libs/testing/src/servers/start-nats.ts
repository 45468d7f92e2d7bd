import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersOnPort, type ChildServer, findFreePort, startChildServer } from './child-server.ts';

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Kills the server as a power cut would and starts it again on the same port and data. */
  restart(options?: { readonly downMs?: number; readonly loseData?: boolean }): Promise<void>;
  /** Ends the server and keeps its data; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface NatsOptions {
  /** Lines added to nats.conf, for example an authorization block. */
  readonly configuration?: string;
}

/** A private nats-server with JetStream, on a free port of loopback with its data in a temporary directory. */
export async function startNats({ configuration = '' }: NatsOptions = {}): Promise<NatsServer> {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-nats-'));
  const port = await findFreePort();
  const file = join(directory, 'nats.conf');
  await writeFile(
    file,
    `listen: "127.0.0.1:${port}"\nmax_payload: 1MB\njetstream { store_dir: "${join(directory, 'data')}" }\n${configuration}\n`,
  );
  const launch = (): Promise<ChildServer> =>
    startChildServer({
      command: 'nats-server',
      args: ['-c', file],
      options: { env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/usr/local/sbin` } },
      answers: () => answersOnPort(port, 'INFO'),
    });
  let server: ChildServer | undefined = await launch();
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    await server?.stop(signal);
    server = undefined;
  };
  const start = async (): Promise<void> => void (server = await launch());
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    get pid() {
      return server?.pid ?? -1;
    },
    restart: async ({ downMs = 0, loseData = false } = {}) => {
      await stop('SIGKILL');
      if (loseData) await rm(join(directory, 'data'), { recursive: true, force: true });
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await start();
    },
    kill: () => stop('SIGKILL'),
    start,
    close: async () => {
      await stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
