import { setTimeout as delay } from 'node:timers/promises';
import type { Readable } from 'node:stream';
import type { DockerEngine, StartedExec } from './docker-engine.ts';
import type { Launcher } from './launcher.ts';
import type { OutputFrame } from './output-frames.ts';
import { OutputFrames } from './output-frames.ts';

/** Why a command was stopped before it ended by itself; `disk` also where it ended and left too much. */
export type KilledBy = 'timeout' | 'output' | 'memory' | 'disk' | 'abort';

export interface RunRequest {
  readonly argv: readonly string[];
  readonly user: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array | Readable | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Returns false when it wants no more. What it throws ends the command and is thrown by the run. */
  readonly onFrame: (frame: OutputFrame) => boolean;
  /** Started with the command; calls back to have it stopped, and stops it by failing. Its signal ends with the command. */
  readonly watch: (onExceeded: (reason: string) => void, signal: AbortSignal) => Promise<void>;
}

export interface RunEnd {
  readonly exitCode: number;
  readonly killedBy: KilledBy | undefined;
  readonly reason: string | undefined;
}

export const exitCodeOfKilled = 137;
const streamGraceMs = 3000;
const exitGraceMs = 5000;

/**
 * Runs one command to its end, or until something stops it: then `killTree` is called, which ends the command and with
 * it its output. The exit code is the engine's word, never read from the output. Throws what its input or `onFrame` threw.
 */
export async function runCommand(
  engine: DockerEngine,
  container: string,
  request: RunRequest,
  killTree: () => Promise<void>,
  launcher?: Launcher,
): Promise<RunEnd> {
  if (request.signal?.aborted) return { exitCode: exitCodeOfKilled, killedBy: 'abort', reason: undefined };
  const wanted = { ...request, stdin: request.stdin !== undefined };
  const exec = (await launcher?.launch(wanted)) ?? (await engine.startExec(container, wanted));
  const finished = new AbortController();
  let stopped: { readonly killedBy: KilledBy; readonly reason: string | undefined } | undefined;
  let killing: Promise<void> | undefined;

  const stop = (killedBy: KilledBy, reason?: string) => {
    if (stopped || finished.signal.aborted) return;
    stopped = { killedBy, reason };
    killing = killTree().then(() => closeAfterGrace(exec, finished.signal));
    killing.catch(() => exec.stream.destroy());
  };
  const onAbort = () => stop('abort');
  const timer = setTimeout(() => stop('timeout', `it ran for ${request.timeoutMs} ms`), request.timeoutMs);
  request.signal?.addEventListener('abort', onAbort, { once: true });
  // A signal that aborted while the engine started the command tells no more.
  if (request.signal?.aborted) onAbort();
  const watching = request.watch((reason) => stop('disk', reason), finished.signal);
  watching.catch(() => stop('disk', 'its workspace cannot be watched'));

  const faults: unknown[] = [];
  const sending = sendInput(exec, request.stdin).catch((error: unknown) => {
    faults.push(error);
    stop('abort', 'its input could not be read');
  });
  await readFrames(exec, (frame) => {
    if (faults.length > 0) return;
    try {
      if (!request.onFrame(frame)) stop('output', 'it printed more than it may');
    } catch (error) {
      faults.push(error);
      stop('abort', 'its output could not be taken');
    }
  });
  finished.abort();
  clearTimeout(timer);
  request.signal?.removeEventListener('abort', onAbort);
  await Promise.all([sending, killing]);
  if (faults.length > 0) throw faults[0];
  const exitCode = await waitForExit(engine, container, exec.id);
  // What was to be stopped may have ended by itself meanwhile.
  if (stopped !== undefined) return { exitCode: exitCodeOfKilled, ...stopped };
  return { exitCode: exitCode ?? exitCodeOfKilled, killedBy: undefined, reason: undefined };
}

async function readFrames({ stream }: StartedExec, onFrame: (frame: OutputFrame) => void): Promise<void> {
  const frames = new OutputFrames();
  await new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      for (const frame of frames.push(chunk)) onFrame(frame);
    });
    // A connection that breaks ends the output too; what became of the command is then asked of the engine.
    stream
      .on('end', resolve)
      .on('close', resolve)
      .on('error', () => resolve());
  });
}

/** A command may end, or be stopped, without having read its input. */
async function sendInput({ stream }: StartedExec, input: RunRequest['stdin']): Promise<void> {
  if (input === undefined) return;
  if (typeof input === 'string' || input instanceof Uint8Array) {
    stream.end(input);
    return;
  }
  for await (const chunk of input) {
    if (hasEnded(stream)) return;
    if (!stream.write(chunk)) await drained(stream);
  }
  stream.end();
}

function hasEnded(stream: StartedExec['stream']): boolean {
  return stream.destroyed || stream.readableEnded || stream.writableEnded;
}

async function drained(stream: StartedExec['stream']): Promise<void> {
  if (hasEnded(stream)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      for (const event of ['drain', 'close', 'error', 'end']) stream.off(event, done);
      resolve();
    };
    for (const event of ['drain', 'close', 'error', 'end']) stream.on(event, done);
  });
}

/** After a kill the output ends by itself; if the engine keeps the connection open, it is closed. */
async function closeAfterGrace({ stream }: StartedExec, finished: AbortSignal): Promise<void> {
  try {
    await delay(streamGraceMs, undefined, { signal: finished });
  } catch {
    return;
  }
  stream.destroy();
}

async function waitForExit(engine: DockerEngine, container: string, exec: string): Promise<number | undefined> {
  for (let waitedMs = 0; waitedMs < exitGraceMs;) {
    const { running, exitCode } = await engine.execState(container, exec);
    if (!running) return exitCode;
    const stepMs = Math.min(2 + waitedMs, 250);
    await delay(stepMs);
    waitedMs += stepMs;
  }
  return undefined;
}
