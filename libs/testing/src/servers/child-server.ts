import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, connect as connectTcp } from 'node:net';

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ChildServer {
  readonly pid: number;
  /** Asks the server to end and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface ChildServerOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  /** True once the server answers. */
  readonly answers: () => Promise<boolean>;
}

const startTimeoutMs = 30_000;

/** Starts a server as a child of this process and waits until it answers; throws with its output when it ends before. */
export async function startChildServer({ command, args, options, answers }: ChildServerOptions): Promise<ChildServer> {
  const [program, ...given] = endsWithParent([command, ...args]);
  const child = spawn(program, given, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-20_000)));
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`ended with ${code ?? signal}`));
  }).finally(() => running.delete(child));
  let end: string | undefined;
  void ended.then((reason) => (end = reason));

  await pollUntil(`${command} answers`, startTimeoutMs, async () => {
    if (end !== undefined) throw new Error(`${command} ${end}\n${output}`);
    return answers();
  });
  return {
    pid: child.pid ?? -1,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended;
    },
  };
}

/** Where there is setpriv the kernel ends the server when the test process ends, however it does. */
function endsWithParent(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--', ...command] : command;
}

/** Polls a condition every 20 ms; throws when it does not hold in time. */
export async function pollUntil(
  what: string,
  timeoutMs: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A port of the loopback interface that was free a moment ago. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Whether something accepts connections; with `greeting`, whether its first bytes contain that text. */
export function answersOnPort(port: number, greeting?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.once('error', () => settle(false));
    if (greeting === undefined) socket.once('connect', () => settle(true));
    else socket.once('data', (chunk: Buffer) => settle(chunk.toString().includes(greeting)));
  });
}
