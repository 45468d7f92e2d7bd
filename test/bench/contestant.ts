import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A system that takes six no-op steps one after the other, durably. Loaded by name into a process of its own. */
export interface Contestant {
  /** One run from its beginning until its end is known to whoever began it. */
  runOnce(): Promise<void>;
  /** Figures that only grow, for example statements; read before and after a load. */
  readonly counters?: () => Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export type Open = (settings: ContestantSettings) => Promise<Contestant>;

export interface ContestantSettings {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly redisUrl: string;
  readonly otlpUrl: string;
  readonly directory: string;
}

export interface Load {
  readonly runs: number;
  readonly atOnce: number;
}

export interface LoadResult {
  readonly seconds: number;
  /** Of the contestant's process. */
  readonly cpuSeconds: number;
  readonly latenciesMs: readonly number[];
  readonly counted: Readonly<Record<string, number>>;
}

export interface RunningContestant {
  readonly name: string;
  load(load: Load): Promise<LoadResult>;
  close(): Promise<void>;
}

type Answer = { readonly kind: 'ready' } | ({ readonly kind: 'done' } & LoadResult);

const lastWords = 2_000;

/** Starts a contestant with the load's generator in its process: submission and waiting cost each of them the same. */
export async function startContestant(
  name: string,
  settings: ContestantSettings,
  execArgv: readonly string[] = [],
): Promise<RunningContestant> {
  const logFile = join(settings.directory, `${name}.log`);
  const log = openSync(logFile, 'a');
  const child = fork(join(import.meta.dirname, 'contestant-process.ts'), [name], {
    execArgv: ['--conditions=@flotilla/source', ...execArgv],
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', log, log, 'ipc'],
  });
  const ask = (question: unknown): Promise<Answer> => answered(logFile, child, () => child.send(question as object));
  await ask(settings);
  return {
    name,
    load: async (load) => {
      const answer = await ask(load);
      if (answer.kind !== 'done') throw new Error(`${name} answered a load with ${answer.kind}`);
      return answer;
    },
    close: async () => {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await gone;
      clearTimeout(timer);
    },
  };
}

function answered(logFile: string, child: ChildProcess, send: () => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void =>
      reject(new Error(`it ended with ${code}: ${readFileSync(logFile, 'utf8').slice(-lastWords)}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Answer); // what contestant-process.ts sends
    });
    send();
  });
}
