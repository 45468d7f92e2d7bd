import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { roles } from '@flotilla/contracts/define-call';
import { silentReport } from '@flotilla/dev/report';
import { bringUpServers, type Servers } from '@flotilla/dev/servers';
import { takePort } from '@flotilla/dev/servers/free-port';
import pg from 'pg';
import { startChild } from './child.ts';
import { type RunningContestant, startContestant } from './contestant.ts';
import { type Bench, type BenchContext, type BenchResult, measureOf, percentile, ratioOf, timed } from './harness.ts';
import { fillHistory } from './history.ts';
import { startOtlpSink } from './otlp-sink.ts';

const token = 'bench-token-of-the-growth';

/** A fleet with servers of its own and so many finished runs in its database. */
interface Stack {
  readonly finished: number;
  readonly megabytes: number;
  readonly contestant: RunningContestant;
  readonly gatewayUrl: string;
}

interface Figures {
  readonly idle: readonly number[];
  readonly list: readonly number[];
  readonly watchOpen: readonly number[];
}

const kinds = ['idle', 'list', 'watchOpen'] as const;
const names = { idle: 'a run of six steps', list: 'the list of runs', watchOpen: 'the opening of a watch' };

/** Runs that were archived would be taken out of a database before it is measured: `openStack` is the place for it. */
export const growth: Bench = {
  name: 'growth',
  summary: 'idle latency, the list of runs and the opening of a watch with much history in the database',
  run: async (context) => {
    const sizes = context.quick ? [100, 10_000] : [1_000, 10_000, 100_000];
    const shape = context.quick ? { rounds: 2, runs: 8 } : { rounds: 5, runs: 12 };
    const closers: (() => Promise<unknown>)[] = [];
    try {
      const stacks: Stack[] = [];
      for (const finished of sizes) stacks.push(await openStack(context, finished, closers));
      const rounds: (readonly Figures[])[] = [];
      for (let round = 0; round < shape.rounds; round += 1) {
        context.say(`round ${round + 1} of ${shape.rounds}`);
        const figures: Figures[] = [];
        for (const stack of stacks) figures.push(await measureStack(stack, shape.runs));
        rounds.push(figures);
      }
      return describe(stacks, rounds);
    } finally {
      for (const close of closers.toReversed()) await close();
    }
  },
};

async function openStack(context: BenchContext, finished: number, closers: (() => Promise<unknown>)[]): Promise<Stack> {
  const { environment, signal } = context;
  const directory = join(context.directory, String(finished));
  await mkdir(directory, { recursive: true });
  const servers = await bringUpServers({ dataDirectory: directory, report: silentReport, signal, environment });
  closers.push(() => servers.stop());
  const sink = await startOtlpSink();
  closers.push(() => sink.close());
  const databaseUrl = servers.postgres.url;
  const settings = {
    databaseUrl,
    natsUrl: servers.nats.url,
    redisUrl: servers.redis.url,
    otlpUrl: sink.url,
    directory,
  };
  const contestant = await startContestant('flotilla', settings);
  closers.push(() => contestant.close());
  context.say(`filling a database with ${finished} finished runs`);
  await fillHistory(databaseUrl, finished);
  const gateway = startChild('watch-process.ts', ['gateway'], { logFile: join(directory, 'gateway.log') });
  closers.push(() => gateway.close());
  const described = await describeGateway(servers, directory);
  await gateway.ask(described.environment);
  await contestant.load({ runs: 40, atOnce: 20 });
  return { finished, contestant, gatewayUrl: described.url, megabytes: await sizeOf(databaseUrl) };
}

async function measureStack({ contestant, gatewayUrl, finished }: Stack, runs: number): Promise<Figures> {
  const { latenciesMs } = await contestant.load({ runs, atOnce: 1 });
  const runId = `run_0${String(Math.ceil(finished / 2)).padStart(25, '0')}`;
  return {
    idle: latenciesMs,
    list: await repeat(runs, () => read(`${gatewayUrl}/v1/runs?project=bench&result=no_changes`)),
    watchOpen: await repeat(runs, () => openWatch(`${gatewayUrl}/v1/runs/${runId}/events?after=38`)),
  };
}

function describe(stacks: readonly Stack[], rounds: readonly (readonly Figures[])[]): BenchResult {
  const [least, most] = [stacks[0], stacks.at(-1)];
  const medians = (figures: Figures | undefined, kind: (typeof kinds)[number]) =>
    percentile(figures?.[kind] ?? [], 0.5);
  return {
    measures: stacks.flatMap(({ finished }, place) =>
      kinds.map((kind) =>
        measureOf(
          `${names[kind]}, ${finished} finished`,
          'ms',
          rounds.flatMap((figures) => figures[place]?.[kind] ?? []),
        ),
      ),
    ),
    ratios: kinds.map((kind) =>
      ratioOf(
        `${names[kind]}: ${most?.finished} finished over ${least?.finished}`,
        rounds.map((figures) => [medians(figures.at(-1), kind), medians(figures[0], kind)]),
        { atMost: 1.5 },
      ),
    ),
    notes: [
      ...stacks.map(({ finished, megabytes }) => `${finished} finished runs take ${Math.round(megabytes)} MB`),
      'each size has servers and a fleet of its own; the sizes take turns within a round',
    ],
  };
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<readonly number[]> {
  await work();
  const all: number[] = [];
  for (let time = 0; time < times; time += 1) all.push(await timed(work));
  return all;
}

const headers = { authorization: `Bearer ${token}` };

async function read(url: string): Promise<void> {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(`${url} was answered ${response.status}: ${await response.text()}`);
  await response.text();
}

/** Until the first frame has come. */
async function openWatch(url: string): Promise<void> {
  const gone = new AbortController();
  const response = await fetch(url, { headers: { ...headers, accept: 'text/event-stream' }, signal: gone.signal });
  if (!response.ok || response.body === null) throw new Error(`${url} was answered ${response.status}`);
  await response.body.getReader().read();
  gone.abort();
}

async function sizeOf(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
  await client.end();
  return Number(rows[0]?.bytes) / 2 ** 20;
}

async function describeGateway(servers: Servers, directory: string) {
  const tokensFile = join(directory, 'tokens.json');
  await writeFile(tokensFile, JSON.stringify([{ token, principal: 'bench', roles }]), { mode: 0o600 });
  const port = await takePort(join(directory, 'http.port'));
  const environment = {
    DATABASE_URL: servers.postgres.url,
    NATS_URL: servers.nats.url,
    FLOTILLA_TOKENS_FILE: tokensFile,
    FLOTILLA_HTTP_PORT: String(port),
    FLOTILLA_LOG_FORMAT: 'json',
  };
  return { environment, url: `http://127.0.0.1:${port}` };
}
