import { type Load, type LoadResult, type RunningContestant, startContestant } from './contestant.ts';
import { type Bench, type BenchContext, type BenchResult, measureOf, percentile, ratioOf } from './harness.ts';
import { startOtlpSink } from './otlp-sink.ts';

const names = ['flotilla', 'dbos', 'bullmq', 'jetstream'] as const;
type Name = (typeof names)[number];
const rivals = names.slice(1);
const steps = 6;

interface Sizes {
  readonly rounds: number;
  readonly idleRuns: number;
  readonly floodRuns: number;
}
const full: Sizes = { rounds: 5, idleRuns: 40, floodRuns: 600 };
const quick: Sizes = { rounds: 2, idleRuns: 15, floodRuns: 200 };
const atOnce = 50;

type Round = Readonly<Record<Name, { readonly idle: LoadResult; readonly flood: LoadResult }>>;

export const pipeline: Bench = {
  name: 'pipeline',
  summary: 'six no-op steps against DBOS, a BullMQ chain and a bare JetStream chain',
  run: async (context) => {
    const sizes = context.quick ? quick : full;
    const sink = await startOtlpSink();
    const running: RunningContestant[] = [];
    try {
      for (const name of names) {
        context.say(`starting ${name}`);
        running.push(await startContestant(name, settingsOf(context, sink.url), profiling(name, context)));
      }
      // What is compiled and planned at first use is not measured.
      for (const contestant of running) await contestant.load({ runs: sizes.floodRuns / 2, atOnce });
      const rounds: Round[] = [];
      for (let round = 0; round < sizes.rounds; round += 1) {
        context.say(`round ${round + 1} of ${sizes.rounds}`);
        rounds.push(await playRound(running, sizes));
      }
      return describe(rounds, sink.bytes());
    } finally {
      for (const contestant of running) await contestant.close();
      await sink.close();
    }
  },
};

/** Set FLOTILLA_BENCH_PROFILE to the name of a contestant and a .cpuprofile of it is kept in the directory it names. */
function profiling(name: Name, { environment }: BenchContext): readonly string[] {
  const directory = environment['FLOTILLA_BENCH_PROFILE'];
  return directory === undefined || name !== 'flotilla' ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`];
}

function settingsOf({ servers, directory }: BenchContext, otlpUrl: string) {
  return {
    databaseUrl: servers.postgres.url,
    natsUrl: servers.nats.url,
    redisUrl: servers.redis.url,
    otlpUrl,
    directory,
  };
}

/** One after the other, so that each has the machine to itself; the order turns from round to round by who comes first. */
async function playRound(running: readonly RunningContestant[], { idleRuns, floodRuns }: Sizes): Promise<Round> {
  const load = async (wanted: Load) => {
    const results = new Map<string, LoadResult>();
    for (const contestant of running) results.set(contestant.name, await contestant.load(wanted));
    return results;
  };
  const idle = await load({ runs: idleRuns, atOnce: 1 });
  const flood = await load({ runs: floodRuns, atOnce });
  const of = (name: Name) => {
    const [first, second] = [idle.get(name), flood.get(name)];
    if (first === undefined || second === undefined) throw new Error(`${name} did not run`);
    return { idle: first, flood: second };
  };
  return { flotilla: of('flotilla'), dbos: of('dbos'), bullmq: of('bullmq'), jetstream: of('jetstream') };
}

const perSecond = ({ latenciesMs, seconds }: LoadResult): number => latenciesMs.length / seconds;
const median = ({ latenciesMs }: LoadResult): number => percentile(latenciesMs, 0.5);

function describe(rounds: readonly Round[], telemetryBytes: number): BenchResult {
  const over = (name: Name, read: (result: Round[Name]) => readonly number[]) =>
    rounds.flatMap((round) => read(round[name]));
  return {
    measures: names.flatMap((name) => [
      measureOf(
        `${name} idle`,
        'ms a run',
        over(name, ({ idle }) => idle.latenciesMs),
      ),
      measureOf(
        `${name} with ${atOnce} in flight`,
        'runs/s',
        over(name, ({ flood }) => [perSecond(flood)]),
      ),
      measureOf(
        `${name} with ${atOnce} in flight`,
        'ms a run',
        over(name, ({ flood }) => flood.latenciesMs),
      ),
      measureOf(
        `${name} processor time`,
        'ms a run',
        over(name, ({ flood }) => [(flood.cpuSeconds * 1_000) / flood.latenciesMs.length]),
      ),
    ]),
    ratios: rivals.flatMap((rival) => [
      ratioOf(
        `throughput over ${rival}`,
        rounds.map((round) => [perSecond(round.flotilla.flood), perSecond(round[rival].flood)]),
        rival === 'dbos' ? { atLeast: 3 } : undefined,
      ),
      ratioOf(
        `idle latency over ${rival}`,
        rounds.map((round) => [median(round.flotilla.idle), median(round[rival].idle)]),
        rival === 'dbos' ? { atMost: 2 } : undefined,
      ),
    ]),
    notes: [
      ...describeCounts(
        'idle',
        rounds.map(({ flotilla }) => flotilla.idle),
      ),
      ...describeCounts(
        `with ${atOnce} in flight`,
        rounds.map(({ flotilla }) => flotilla.flood),
      ),
      `flotilla sent ${Math.round(telemetryBytes / 1024)} KiB of spans and metrics to a receiver on loopback`,
      'Postgres syncs each commit; Redis syncs once a second; nats-server before 2.10 syncs every two minutes',
    ],
  };
}

/** What a step costs flotilla, by its counters. */
function describeCounts(when: string, results: readonly LoadResult[]): readonly string[] {
  const done = results.reduce((sum, { latenciesMs }) => sum + latenciesMs.length * steps, 0);
  const totals = new Map<string, number>();
  for (const { counted } of results)
    for (const [name, count] of Object.entries(counted)) totals.set(name, (totals.get(name) ?? 0) + count);
  const perStep = (value: number): string => (value / done).toFixed(value / done < 10 ? 2 : 0);
  const [plain, texts] = [true, false].map((wanted) =>
    [...totals].filter(([name]) => !name.startsWith('sql ') === wanted).sort(([, left], [, right]) => right - left),
  );
  const list = (entries: readonly (readonly [string, number])[] = []): string =>
    entries.map(([name, value]) => `${name} ${perStep(value)}`).join(', ');
  return [
    `flotilla a step, ${when}: ${list(plain)}`,
    `statements a step, ${when}: ${list(texts?.filter(([, value]) => value >= done / steps).map(([name, value]) => [`[${name.slice(4)}]`, value] as const))}`,
  ];
}
