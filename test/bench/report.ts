import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type { Servers } from '@flotilla/dev/servers';
import type { BenchResult, Measure, Ratio, Target } from './harness.ts';

/** Where figures were taken. */
export interface Machine {
  readonly processors: number;
  readonly model: string;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  readonly git: string;
  readonly nats: string;
  readonly redis: string;
  readonly postgres: string;
  /** Runnable processes over the last minute, when the bench began. */
  readonly load: number;
}

export async function describeMachine({ nats, redis, postgres }: Servers): Promise<Machine> {
  const git = await promisify(execFile)('git', ['--version']);
  const load = await readFile('/proc/loadavg', 'utf8').catch(() => '0');
  return {
    processors: cpus().length,
    model: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.versions.node,
    git: git.stdout.trim().replace('git version ', ''),
    nats: nats.version,
    redis: redis.version,
    postgres: postgres.version,
    load: Number(load.split(' ')[0]),
  };
}

export function renderMachine(machine: Machine): string {
  const { processors, model, memoryGiB, kernel, node, git, nats, redis, postgres, load } = machine;
  return `${processors} × ${model}, ${memoryGiB} GiB, kernel ${kernel}, load ${load}\nnode ${node}, git ${git}, nats ${nats}, redis ${redis}, postgres ${postgres}\n`;
}

export function renderResult({ measures, ratios, notes }: BenchResult): string {
  return [
    table(['', 'unit', 'runs', 'p50', 'p95', 'p99'], measures.map(measureRow)),
    ...(ratios.length === 0
      ? []
      : [table(['ratio', 'rounds', 'median', 'lowest', 'highest', 'target'], ratios.map(ratioRow))]),
    ...notes.map((note) => `- ${note}\n`),
  ].join('\n');
}

function measureRow({ name, unit, runs, p50, p95, p99 }: Measure): readonly string[] {
  return [name, unit, String(runs), figure(p50), figure(p95), figure(p99)];
}

function ratioRow({ name, rounds, median, lowest, highest, target, met }: Ratio): readonly string[] {
  const wanted = target === undefined ? '' : `${describeTarget(target)} ${met === true ? 'met' : 'MISSED'}`;
  return [name, String(rounds), figure(median), figure(lowest), figure(highest), wanted];
}

function describeTarget(target: Target): string {
  return 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
}

/** Three significant digits. */
function figure(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return `${[head, ...rows].map((row) => line(row).trimEnd()).join('\n')}\n`;
}
