import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { DockerEngine, ExecRequest, StartedExec } from './docker-engine.ts';

/**
 * A process of the sandbox user that the engine started before there was a command for it: starting one is most of what a short command
 * takes. It serves one command, becomes it, and is followed by a fresh one, begun while nothing of the sandbox lives that could meddle.
 */
export interface Launcher {
  /** Begins the next process where none waits. Only while no other process of the sandbox user is alive. */
  prepare(): void;
  /** The process that waits, as the engine's host numbers it. */
  waiting(): Promise<number | undefined>;
  /**
   * Gives the command to the process that waits. Undefined where none does, where the command is not for it, or where the process ended
   * before it took the command: then the command has not begun.
   */
  launch(request: ExecRequest): Promise<StartedExec | undefined>;
  /** What waits counts as gone, and is let go. */
  forget(): void;
}

interface Waiting {
  readonly exec: StartedExec;
  readonly pid: number | undefined;
}

const acknowledgement = 6;
/** The shell reads a byte at a time. */
const longestCommandBytes = 16 * 1024;
const answerLimitMs = 10_000;
const lookEveryMs = 250;

const script = `
IFS= read -r -d '' count || exit 0
words=()
while [ "$count" -gt 0 ]; do
  IFS= read -r -d '' word || exit 0
  words+=("$word")
  count=$((count - 1))
done
printf '\\006'
exec /usr/bin/env -i "\${words[@]}"
`;

/** `endProcesses` ends every process of the sandbox user: called where the one that waited did not take the command. */
export function createLauncher(
  engine: DockerEngine,
  container: string,
  user: string,
  endProcesses: () => Promise<void>,
): Launcher {
  let next: Promise<Waiting | undefined> | undefined;

  /** Where it cannot be begun, or its container is gone, a command begins as if there were no launcher, and says what is wrong. */
  const begin = async (): Promise<Waiting | undefined> => {
    try {
      const argv = ['/bin/bash', '-c', script];
      const environment = { LC_ALL: 'C' };
      const exec = await engine.startExec(container, { argv, user, directory: '/', environment, stdin: true });
      exec.stream.on('error', () => undefined);
      const { running, pid } = await engine.execState(container, exec.id);
      return running ? { exec, pid } : undefined;
    } catch {
      return undefined;
    }
  };

  const take = async (): Promise<StartedExec | undefined> => {
    const taken = next;
    next = undefined;
    return (await taken)?.exec;
  };

  /** The engine may keep the connection of a process that has ended. */
  const watchForEnd = async (exec: StartedExec, answered: AbortSignal): Promise<false> => {
    for (let waitedMs = 0; waitedMs < answerLimitMs; waitedMs += lookEveryMs) {
      await delay(lookEveryMs, undefined, { signal: answered });
      if (!(await engine.execState(container, exec.id)).running) break;
    }
    return false;
  };

  const hand = async (exec: StartedExec, message: string, more: boolean): Promise<boolean> => {
    if (more) exec.stream.write(message);
    else exec.stream.end(message);
    const answered = new AbortController();
    const watching = watchForEnd(exec, answered.signal).catch(() => false);
    const isTaken = await Promise.race([readAcknowledgement(exec.stream), watching]);
    answered.abort();
    // Whether it ended or is only out of reach: nothing of it may begin later.
    if (!isTaken) await endProcesses();
    return isTaken;
  };

  return {
    prepare: () => void (next ??= begin()),
    waiting: async () => (await next)?.pid,
    forget: () => void take().then((exec) => exec?.stream.destroy()),
    launch: async (request) => {
      const exec = await take();
      if (exec === undefined) return undefined;
      const message = encode(request);
      if (message !== undefined && (await hand(exec, message, request.stdin))) return exec;
      exec.stream.destroy();
      return undefined;
    },
  };
}

function encode({ argv, environment, directory }: ExecRequest): string | undefined {
  // What stands before the program is read as a variable as long as it looks like one.
  if (directory !== '/' || argv[0]?.includes('=') !== false) return undefined;
  const words = [...Object.entries(environment).map(([name, value]) => `${name}=${value}`), ...argv];
  const message = [words.length, ...words].map((word) => `${word}\0`).join('');
  return Buffer.byteLength(message) > longestCommandBytes ? undefined : message;
}

const frameHeaderBytes = 8;

/** Takes the one byte that the process prints before it becomes the command; what the command prints may be in the same frame. */
function readAcknowledgement(stream: Duplex): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isTaken: boolean): void => {
      stream.off('readable', look);
      for (const event of ['end', 'close', 'error']) stream.off(event, end);
      resolve(isTaken);
    };
    const end = (): void => settle(false);
    const look = (): void => {
      const read: unknown = stream.read(frameHeaderBytes + 1);
      if (!Buffer.isBuffer(read)) return;
      if (read.length <= frameHeaderBytes || read[frameHeaderBytes] !== acknowledgement) return end();
      const left = read.readUInt32BE(4) - 1;
      if (left > 0) {
        read.writeUInt32BE(left, 4);
        stream.unshift(read.subarray(0, frameHeaderBytes));
      }
      settle(true);
    };
    for (const event of ['end', 'close', 'error']) stream.on(event, end);
    stream.on('readable', look);
    look();
  });
}
