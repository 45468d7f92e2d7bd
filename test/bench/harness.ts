import type { Servers } from '@flotilla/dev/servers';

/** What every bench is given. */
export interface BenchContext {
  /** Fewer rounds and smaller ones, for a look while developing. */
  readonly quick: boolean;
  readonly servers: Servers;
  /** Absolute; belongs to this bench and goes when it ends. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Tells the person who waits what is done now. */
  readonly say: (text: string) => void;
}

export interface Bench {
  readonly name: string;
  readonly summary: string;
  run(context: BenchContext): Promise<BenchResult>;
}

export interface BenchResult {
  readonly measures: readonly Measure[];
  readonly ratios: readonly Ratio[];
  /** What a reader must know to read the figures. */
  readonly notes: readonly string[];
}

/** A quantity that was measured several times. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly runs: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Two quantities of one round divided, over all rounds: what may be compared on a machine that does other things too. */
export interface Ratio {
  readonly name: string;
  readonly rounds: number;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly target?: Target;
  /** Absent without a target. */
  readonly met?: boolean;
}

export type Target = { readonly atLeast: number } | { readonly atMost: number };

/** The value that `share` of the samples do not exceed (nearest rank). Throws RangeError without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((left, right) => left - right);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('a percentile needs samples');
  return value;
}

export function measureOf(name: string, unit: string, samples: readonly number[]): Measure {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(samples, share));
  return { name, unit, runs: samples.length, p50: p50 ?? 0, p95: p95 ?? 0, p99: p99 ?? 0 };
}

/** Divides round by round and gives the median with its spread. */
export function ratioOf(
  name: string,
  rounds: readonly (readonly [over: number, under: number])[],
  target?: Target,
): Ratio {
  const values = rounds.map(([over, under]) => over / under);
  const median = percentile(values, 0.5);
  return {
    name,
    rounds: values.length,
    median,
    lowest: Math.min(...values),
    highest: Math.max(...values),
    ...(target === undefined ? {} : { target, met: meets(median, target) }),
  };
}

function meets(value: number, target: Target): boolean {
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** Milliseconds that a piece of work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Does `work` for each of the numbers below `count`, `atOnce` at a time. */
export async function inFlight(count: number, atOnce: number, work: (place: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const place = next;
      next += 1;
      await work(place);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, lane));
}
