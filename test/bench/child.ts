import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A process of a bench, which answers one question at a time. */
export interface BenchChild {
  readonly pid: number;
  ask<Answer>(question: object): Promise<Answer>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Lets go of it and waits until it has closed what it opened. */
  close(): Promise<void>;
}

const lastWords = 2_000;
const closeLimitMs = 20_000;

/** Starts a file of this directory; what it prints goes to a log that is told when it ends by itself. */
export function startChild(
  file: string,
  args: readonly string[],
  { logFile, execArgv = [] }: { readonly logFile: string; readonly execArgv?: readonly string[] },
): BenchChild {
  const log = openSync(logFile, 'a');
  const child = fork(join(import.meta.dirname, file), [...args], {
    execArgv: ['--conditions=@flotilla/source', ...execArgv],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', log, log, 'ipc'],
  });
  const end = async (begin: () => void): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    begin();
    const timer = setTimeout(() => child.kill('SIGKILL'), closeLimitMs);
    await gone;
    clearTimeout(timer);
  };
  return {
    pid: child.pid ?? 0,
    ask: <Answer>(question: object) => ask<Answer>(logFile, child, question),
    kill: () => end(() => child.kill('SIGKILL')),
    close: () => end(() => child.disconnect()),
  };
}

function ask<Answer>(logFile: string, child: ChildProcess, question: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void =>
      reject(new Error(`it ended with ${code}: ${readFileSync(logFile, 'utf8').slice(-lastWords)}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Answer); // what the child's own code sends
    });
    child.send(question);
  });
}

/** The child's side: answers each message, and ends when the parent lets go or an answer fails. */
export function answerParent(answer: (question: object) => Promise<object>, close: () => Promise<void>): void {
  process.on('message', (question: object) => {
    answer(question).then(
      (reply) => process.send?.(reply),
      (error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => {
    void close().finally(() => process.exit(0));
  });
}
