import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersOnPort, type ChildServer, findFreePort, startChildServer } from './child-server.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends the server without a save; `start` brings it back empty. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** A private redis-server without persistence, on a free port of loopback. */
export async function startRedis(): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-redis-'));
  const port = await findFreePort();
  const launch = (): Promise<ChildServer> =>
    startChildServer({
      command: 'redis-server',
      args: ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--save', '', '--appendonly', 'no'],
      answers: () => answersOnPort(port),
    });
  let server: ChildServer | undefined = await launch();
  const stop = async (): Promise<void> => {
    await server?.stop('SIGKILL');
    server = undefined;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server?.pid ?? -1;
    },
    kill: stop,
    start: async () => void (server = await launch()),
    close: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
