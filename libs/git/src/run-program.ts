import { spawn } from 'node:child_process';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly timeLimitMs: number;
  readonly outputLimitBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Descriptors that the child and its children keep open, as number 3 and up. */
  readonly keepOpen?: readonly number[] | undefined;
  /** Takes standard output as it comes; it is then not collected and the output limit counts all the same. */
  readonly onOutput?: ((chunk: Buffer) => void) | undefined;
}

export interface ProgramEnd {
  /** Why it ended. `output-limit` and `time-limit` mean that its whole process group was stopped. */
  readonly cause: 'exit' | 'time-limit' | 'output-limit';
  /** -1 when a signal ended it. */
  readonly exitCode: number;
  /** At most `outputLimitBytes`. */
  readonly stdout: Buffer;
  /** The last 64 KiB. */
  readonly stderr: string;
}

const stderrLimitBytes = 64 * 1024;
const graceMs = 2000;

/**
 * The only place of this package that starts a process. The child leads its own process group, which is stopped as a
 * whole (SIGTERM, which lets git remove its lock files, then SIGKILL). Rejects with the signal's reason on abort and
 * with the system's error when the program cannot be started.
 */
export async function runProgram(program: Program): Promise<ProgramEnd> {
  program.signal?.throwIfAborted();
  const child = spawn(program.command, program.args, {
    cwd: '/',
    env: { ...program.environment },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(program.keepOpen ?? [])],
  });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null)
    throw new Error('a child process was started without pipes');

  const output = collectOutput(program, () => stop('output-limit'));
  const complaints = collectLast(stderrLimitBytes);
  stdout.on('data', output.add);
  stderr.on('data', complaints.add);
  stdin.on('error', () => undefined);
  stdin.end(program.input ?? '');

  let stopCause: 'abort' | 'time-limit' | 'output-limit' | undefined;
  let killTimer: NodeJS.Timeout | undefined;
  function stop(cause: 'abort' | 'time-limit' | 'output-limit'): void {
    if (stopCause !== undefined) return;
    stopCause = cause;
    signalGroup(child.pid, 'SIGTERM');
    killTimer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs);
  }
  const stopOnAbort = (): void => stop('abort');
  program.signal?.addEventListener('abort', stopOnAbort, { once: true });
  const limitTimer = setTimeout(() => stop('time-limit'), program.timeLimitMs);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? -1));
    });
    if (stopCause === 'abort') program.signal?.throwIfAborted();
    const cause = stopCause === undefined || stopCause === 'abort' ? 'exit' : stopCause;
    return { cause, exitCode, stdout: output.take(), stderr: complaints.take().toString('utf8') };
  } finally {
    clearTimeout(limitTimer);
    clearTimeout(killTimer);
    program.signal?.removeEventListener('abort', stopOnAbort);
  }
}

function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

function collectOutput(program: Program, onLimit: () => void): { add(chunk: Buffer): void; take(): Buffer } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk) {
      const room = program.outputLimitBytes - bytes;
      const kept = chunk.length > room ? chunk.subarray(0, Math.max(room, 0)) : chunk;
      bytes += chunk.length;
      if (program.onOutput !== undefined) program.onOutput(kept);
      else if (kept.length > 0) chunks.push(kept);
      if (chunk.length > room) onLimit();
    },
    take: () => Buffer.concat(chunks),
  };
}

function collectLast(limitBytes: number): { add(chunk: Buffer): void; take(): Buffer } {
  let kept: Buffer = Buffer.alloc(0);
  return {
    add(chunk) {
      kept = Buffer.concat([kept, chunk]);
      if (kept.length > limitBytes) kept = kept.subarray(kept.length - limitBytes);
    },
    take: () => kept,
  };
}
