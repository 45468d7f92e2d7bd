import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { createReport } from '@flotilla/dev/report';
import { chooseSink } from '@flotilla/dev/report-sinks';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { bringUpServers } from '@flotilla/dev/servers';
import type { Bench } from './harness.ts';
import { growth } from './growth.ts';
import { landing } from './landing.ts';
import { pipeline } from './pipeline.ts';
import { recovery } from './recovery.ts';
import { sandbox } from './sandbox.ts';
import { start } from './start.ts';
import { watch } from './watch.ts';
import { describeMachine, renderMachine, renderResult } from './report.ts';

const benches: readonly Bench[] = [pipeline, watch, sandbox, landing, recovery, start, growth];

const help = `Measures on this machine, against what else there is, and keeps the figures in .data/bench.

  npm run bench -- [NAME…] [--quick] [--json] [--help]

${benches.map(({ name, summary }) => `  ${name.padEnd(10)} ${summary}`).join('\n')}

  --quick   fewer and smaller rounds: for a look, not for figures to keep
  --json    prints the figures as JSON, one line a bench, and nothing else on standard output

Exit code 1 when a bench could not be run, 2 when a target was missed.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
const unknown = positionals.filter((name) => !benches.some((bench) => bench.name === name));
if (values.help === true) process.stdout.write(help);
else if (unknown.length > 0) {
  process.stderr.write(`no such bench: ${unknown.join(', ')}\n\n${help}`);
  process.exitCode = 1;
} else {
  const chosen = benches.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  process.exitCode = await runBenches(chosen, values.quick === true, values.json === true);
}

async function runBenches(chosen: readonly Bench[], quick: boolean, json: boolean): Promise<number> {
  const report = createReport(chooseSink(json ? process.stderr : process.stdout, false));
  const stopped = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => stopped.abort(new Error(`stopped by ${name}`)));
  const { signal } = stopped;
  const kept = join(repositoryDirectory, '.data/bench');
  const dataDirectory = join(kept, `servers-${process.pid}`);
  const environment = process.env;
  await mkdir(kept, { recursive: true });
  let code = 0;
  try {
    for (const bench of chosen) {
      // Servers of its own: what one bench leaves in them is not measured by the next.
      const servers = await bringUpServers({ dataDirectory, report, signal, environment });
      try {
        const machine = await describeMachine(servers);
        const say = (text: string): void => {
          // Between two rounds a bench that was told to stop does.
          signal.throwIfAborted();
          report.say(bench.name, text);
        };
        const directory = join(dataDirectory, bench.name);
        await mkdir(directory, { recursive: true });
        const result = await bench.run({ quick, servers, directory, environment, signal, say });
        const at = new Date().toISOString();
        const record = { bench: bench.name, at, quick, machine, ...result };
        await writeFile(
          join(kept, `${bench.name}-${at.replaceAll(':', '')}.json`),
          `${JSON.stringify(record, null, 2)}\n`,
        );
        process.stdout.write(
          json
            ? `${JSON.stringify(record)}\n`
            : `\n${bench.name}: ${bench.summary}\n${renderMachine(machine)}\n${renderResult(result)}\n`,
        );
        if (result.ratios.some(({ met }) => met === false)) code = 2;
      } finally {
        await servers.stop();
        await rm(dataDirectory, { recursive: true, force: true });
      }
    }
    return code;
  } catch (error) {
    const told = error instanceof FlotillaError ? `${error.message}. ${error.advice}` : error;
    process.stderr.write(`${told instanceof Error ? (told.stack ?? told.message) : String(told)}\n`);
    return 1;
  }
}
