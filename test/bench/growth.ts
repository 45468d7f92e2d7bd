import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { roles } from '@flotilla/contracts/define-call';
import { takePort } from '@flotilla/dev/servers/free-port';
import pg from 'pg';
import { startChild } from './child.ts';
import { startContestant } from './contestant.ts';
import { type Bench, type BenchContext, measureOf, percentile, ratioOf, timed } from './harness.ts';
import { fillHistory } from './history.ts';
import { startOtlpSink } from './otlp-sink.ts';

const token = 'bench-token-of-the-growth';

interface Figures {
  readonly finished: number;
  readonly idle: readonly number[];
  readonly list: readonly number[];
  readonly watchOpen: readonly number[];
  readonly megabytes: number;
}

/** Runs that were archived would be taken out of the database before a size is measured: `archive` has its place there. */
export const growth: Bench = {
  name: 'growth',
  summary: 'idle latency, the list of runs and the opening of a watch with much history in the database',
  run: async (context) => {
    const sizes = context.quick ? [100, 1_000, 10_000] : [1_000, 10_000, 100_000];
    const runs = context.quick ? 10 : 30;
    const { servers, directory } = context;
    const sink = await startOtlpSink();
    const { environment, url } = await describeGateway(context);
    const settings = {
      databaseUrl: servers.postgres.url,
      natsUrl: servers.nats.url,
      redisUrl: servers.redis.url,
      otlpUrl: sink.url,
      directory,
    };
    const contestant = await startContestant('flotilla', settings);
    const gateway = startChild('watch-process.ts', ['gateway'], { logFile: join(directory, 'gateway.log') });
    const figures: Figures[] = [];
    try {
      await gateway.ask(environment);
      await contestant.load({ runs: runs * 4, atOnce: 20 });
      let before = 0;
      for (const finished of sizes) {
        context.say(`filling up to ${finished} finished runs`);
        await fillHistory(settings.databaseUrl, before, finished);
        before = finished;
        const { latenciesMs } = await contestant.load({ runs, atOnce: 1 });
        const list = await repeat(runs, () => read(`${url}/v1/runs?project=bench&result=no_changes`));
        const runId = `run_0${String(Math.ceil(finished / 2)).padStart(25, '0')}`;
        const watchOpen = await repeat(runs, () => openWatch(`${url}/v1/runs/${runId}/events?after=38`));
        figures.push({ finished, idle: latenciesMs, list, watchOpen, megabytes: await sizeOf(settings.databaseUrl) });
      }
    } finally {
      await gateway.close();
      await contestant.close();
      await sink.close();
    }
    return describe(figures);
  },
};

function describe(figures: readonly Figures[]) {
  const kinds = ['idle', 'list', 'watchOpen'] as const;
  const names = { idle: 'a run of six steps', list: 'the list of runs', watchOpen: 'the opening of a watch' };
  const [first, last] = [figures[0], figures.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('growth needs sizes');
  return {
    measures: figures.flatMap((figure) =>
      kinds.map((kind) => measureOf(`${names[kind]}, ${figure.finished} finished`, 'ms', figure[kind])),
    ),
    ratios: kinds.map((kind) =>
      ratioOf(
        `${names[kind]}: ${last.finished} over ${first.finished}`,
        [[percentile(last[kind], 0.5), percentile(first[kind], 0.5)]],
        { atMost: 1.5 },
      ),
    ),
    notes: figures.map(({ finished, megabytes }) => `${finished} finished runs take ${Math.round(megabytes)} MB`),
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

async function describeGateway({ servers, directory }: BenchContext) {
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
