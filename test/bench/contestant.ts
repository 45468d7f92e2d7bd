import { join } from 'node:path';
import { startChild } from './child.ts';

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

/** Starts a contestant with the load's generator in its process: submission and waiting cost each of them the same. */
export async function startContestant(
  name: string,
  settings: ContestantSettings,
  execArgv: readonly string[] = [],
): Promise<RunningContestant> {
  const logFile = join(settings.directory, `${name}.log`);
  const child = startChild('contestant-process.ts', [name], { logFile, execArgv });
  await child.ask(settings);
  return { name, load: (load) => child.ask<LoadResult>(load), close: () => child.close() };
}
