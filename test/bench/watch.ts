import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { roles } from '@flotilla/contracts/define-call';
import { takePort } from '@flotilla/dev/servers/free-port';
import { type BenchChild, startChild } from './child.ts';
import { type Bench, type BenchContext, measureOf, type Measure, ratioOf } from './harness.ts';
import { insertOpenRun } from './history.ts';
import type { WatchersToOpen, Written } from './watch-process.ts';

const token = 'bench-token-of-the-watchers';

export const watch: Bench = {
  name: 'watch',
  summary: 'from the commit of an event to its arrival at 1 and at 1,000 watchers of one run',
  run: async (context) => {
    const events = context.quick ? 10 : 50;
    const { environment, url } = await describeEnvironment(context);
    const children: BenchChild[] = [];
    const begin = (role: string): BenchChild => {
      const child = startChild('watch-process.ts', [role], { logFile: join(context.directory, `${role}.log`) });
      children.push(child);
      return child;
    };
    try {
      const writer = begin('writer');
      await writer.ask(environment);
      await begin('gateway').ask(environment);
      const runId = await insertOpenRun(context.servers.postgres.url);
      const alone = begin('watchers');
      await alone.ask({ url, token, runId, count: 1 } satisfies WatchersToOpen);
      const one = await writeAll(writer, [alone], runId, events);
      const crowd = begin('watchers');
      context.say('opening 999 more');
      await crowd.ask({ url, token, runId, count: 999 } satisfies WatchersToOpen);
      const many = await writeAll(writer, [alone, crowd], runId, events);
      return {
        measures: [
          measureOf('at 1 watcher', 'ms', one.flat()),
          measureOf('at each of 1,000 watchers', 'ms', many.flat()),
          measureOf(
            'at the last of 1,000 watchers',
            'ms',
            many.map((times) => Math.max(...times)),
          ),
        ] satisfies readonly Measure[],
        ratios: [
          ratioOf(
            'the last of 1,000 over 1',
            many.map((times, place) => [Math.max(...times), one[place]?.[0] ?? 1]),
          ),
        ],
        notes: ['router, gateway and watchers are processes of their own; an event every 200 ms; times of one clock'],
      };
    } finally {
      for (const child of children.toReversed()) await child.close();
    }
  },
};

async function writeAll(
  writer: BenchChild,
  watching: readonly BenchChild[],
  runId: string,
  events: number,
): Promise<readonly (readonly number[])[]> {
  const all: number[][] = [];
  for (let event = 0; event < events; event += 1) {
    const written = await writer.ask<Written>({ runId });
    const answers = await Promise.all(
      watching.map((child) => child.ask<{ readonly times: readonly number[] }>(written)),
    );
    all.push(answers.flatMap(({ times }) => times.map((at) => at - written.at)));
    await delay(200);
  }
  return all;
}

async function describeEnvironment({ servers, directory }: BenchContext) {
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
