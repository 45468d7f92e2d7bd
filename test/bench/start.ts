import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildServices } from '@flotilla/dev/fleet/build-services';
import { startFleet } from '@flotilla/dev/fleet/start-fleet';
import { createReport, silentReport } from '@flotilla/dev/report';
import { type Bench, type BenchContext, measureOf, ratioOf } from './harness.ts';

const settleMs = 5_000;

export const start: Bench = {
  name: 'start',
  summary: 'time until a fleet is ready and its memory at rest, separate and all in one process',
  run: async (context) => {
    await buildServices({ report: silentReport, signal: context.signal });
    const rounds = context.quick ? 1 : 3;
    const separate: Started[] = [];
    const together: Started[] = [];
    for (let round = 0; round < rounds; round += 1) {
      context.say(`round ${round + 1} of ${rounds}`);
      separate.push(await startOnce(context, round, false));
      together.push(await startOnce(context, round, true));
    }
    return {
      measures: [
        measureOf(
          'ready, separate',
          's',
          separate.map(({ seconds }) => seconds),
        ),
        measureOf(
          'ready, all in one',
          's',
          together.map(({ seconds }) => seconds),
        ),
        measureOf(
          'memory at rest, separate',
          'MB',
          separate.map(({ megabytes }) => megabytes),
        ),
        measureOf(
          'memory at rest, all in one',
          'MB',
          together.map(({ megabytes }) => megabytes),
        ),
        measureOf(
          'proportional memory, separate',
          'MB',
          separate.map(({ proportional }) => proportional),
        ),
      ],
      ratios: [
        ratioOf(
          'memory of all in one over 350 MB',
          together.map(({ megabytes }) => [megabytes, 350]),
          { atMost: 1 },
        ),
        ratioOf(
          'memory of all in one over separate',
          together.map(({ megabytes }, round) => [megabytes, separate[round]?.megabytes ?? 0]),
        ),
      ],
      notes: [
        `resident memory of the services ${settleMs / 1_000} s after they were ready, pages that processes share counted in each; servers not counted`,
        'ready: from the start of the processes, with the servers up and the services compiled, to the last /ready',
      ],
    };
  },
};

interface Started {
  readonly seconds: number;
  readonly megabytes: number;
  readonly proportional: number;
}

async function startOnce(
  { directory, environment, signal }: BenchContext,
  round: number,
  allInOne: boolean,
): Promise<Started> {
  let seconds = 0;
  const report = createReport((event) => {
    if (event.subject === 'services' && event.kind === 'ended') seconds = (performance.now() - began) / 1_000;
    if (event.subject === 'services' && event.kind === 'began') began = performance.now();
  });
  let began = performance.now();
  const fleet = await startFleet({
    dataDirectory: join(directory, `fleet-${round}-${allInOne}`),
    report,
    signal,
    environment,
    allInOne,
    httpPort: 0,
    settings: { FLOTILLA_MODEL: 'compatible:none@http://127.0.0.1:9/v1' },
    onGivenUp: (error) => {
      throw error;
    },
  });
  try {
    await delay(settleMs);
    const pids = [...fleet.services.processes.values()].map(({ pid }) => pid ?? 0);
    const memory = await Promise.all(pids.map(readMemory));
    return {
      seconds,
      megabytes: memory.reduce((sum, { resident }) => sum + resident, 0),
      proportional: memory.reduce((sum, { proportional }) => sum + proportional, 0),
    };
  } finally {
    await fleet.stop();
  }
}

/** Of a process in MB: what it has resident, and with shared pages divided by those who share them. */
async function readMemory(pid: number): Promise<{ readonly resident: number; readonly proportional: number }> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_024;
  return { resident: read('Rss'), proportional: read('Pss') };
}
