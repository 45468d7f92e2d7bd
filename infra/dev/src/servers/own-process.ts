import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, open, readFile, readlink, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { findCommand } from '../find-command.ts';
import { passwordForeign } from './passwords.ts';
import type { Probe } from './probe.ts';

export interface OwnProcessOptions {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Its working directory and, by that, its mark: no two of them run in one directory. */
  readonly directory: string;
  readonly logPath: string;
  /** Asks it to end in order; also sent by the kernel when we end, however we end. */
  readonly endSignal: 'SIGTERM' | 'SIGINT';
  /** setpriv's options for another user. Default: ours. */
  readonly privileges?: readonly string[];
  readonly probe: () => Promise<Probe>;
  readonly signal?: AbortSignal | undefined;
  /** Called when it ends without being asked to. */
  readonly onEnded: (how: string) => void;
}

export interface OwnProcess {
  readonly pid: number;
  readonly version: string;
  stop(): Promise<void>;
}

const readyMs = 60_000;
const stopGraceMs = 15_000;
const pollMs = 30;

/**
 * Starts a server as a child in a session of its own, so that a Ctrl-C reaches us alone, and waits until it answers. Where
 * there is setpriv, the kernel ends it when we die, even by kill -9. Throws SERVER_NOT_STARTED with its last words.
 */
export async function startOwnProcess(options: OwnProcessOptions): Promise<OwnProcess> {
  await endPredecessor(options.directory);
  const child = await launch(options);
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code ?? 'unknown'}`));
  });
  if (child.pid !== undefined) await writeFile(pidPath(options.directory), String(child.pid));
  try {
    const version = await waitUntilReady(options, ended);
    let asked = false;
    void ended.then((how) => asked || options.onEnded(how));
    const stop = async (): Promise<void> => {
      asked = true;
      await end(child, ended, options.endSignal);
    };
    return { pid: child.pid ?? 0, version, stop };
  } catch (error) {
    await end(child, ended, options.endSignal);
    throw error;
  }
}

async function launch({
  command,
  directory,
  logPath,
  endSignal,
  privileges = [],
}: OwnProcessOptions): Promise<ChildProcess> {
  await mkdir(dirname(logPath), { recursive: true, mode: 0o700 });
  await rename(logPath, `${logPath}.1`).catch(() => undefined);
  const log = await open(logPath, 'a', 0o600);
  const setpriv = await findCommand('setpriv', process.env);
  const wrapper =
    setpriv === undefined ? [] : [setpriv, '--pdeathsig', endSignal.slice('SIG'.length), ...privileges, '--'];
  const [program = '', ...args] = [...wrapper, ...command];
  const child = spawn(program, args, { cwd: directory, detached: true, stdio: ['ignore', log.fd, log.fd] });
  child.on('spawn', () => void log.close());
  child.on('error', () => void log.close());
  return child;
}

async function waitUntilReady(
  { name, directory, logPath, probe, signal }: OwnProcessOptions,
  ended: Promise<string>,
): Promise<string> {
  const deadline = performance.now() + readyMs;
  const gone = ended.then((how) => ({ kind: 'gone', how }) as const);
  for (;;) {
    signal?.throwIfAborted();
    const answer = await Promise.race([gone, probe()]);
    if (answer.kind === 'answers') return answer.version;
    if (answer.kind === 'silent' && answer.refused) throw passwordForeign(name, directory);
    const late = performance.now() > deadline;
    if (answer.kind === 'gone' || late) {
      const how =
        answer.kind === 'gone'
          ? `it ended (${answer.how})`
          : `it did not answer within ${readyMs / 1_000} s (${answer.reason})`;
      throw new FlotillaError(errors.serverNotStarted, {
        server: name,
        reason: `${how}: ${await readLastLines(logPath)}`,
        log: logPath,
      });
    }
    await Promise.race([gone, delay(pollMs)]);
  }
}

async function end(child: ChildProcess, ended: Promise<string>, endSignal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(endSignal);
  const timer = setTimeout(() => endGroup(child.pid ?? 0), stopGraceMs);
  await ended;
  clearTimeout(timer);
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It was gone already.
  }
}

/** What an earlier run left in this directory is on its way out, since its parent is gone; two writers would ruin the data. */
async function endPredecessor(directory: string): Promise<void> {
  const pid = Number(await readFile(pidPath(directory), 'utf8').catch(() => '0'));
  if (!(pid > 0)) return;
  const lives = async (): Promise<boolean> => (await readlink(`/proc/${pid}/cwd`).catch(() => '')) === directory;
  const deadline = performance.now() + stopGraceMs;
  while (await lives()) {
    if (performance.now() > deadline) endGroup(pid);
    await delay(pollMs);
  }
}

function pidPath(directory: string): string {
  return join(dirname(directory), `${directory.split('/').pop() ?? 'server'}.pid`);
}

async function readLastLines(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return (
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-4)
      .join(' | ') || 'its log is empty'
  );
}
