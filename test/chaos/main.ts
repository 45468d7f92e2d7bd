import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseSink } from '@flotilla/dev/report-sinks';
import { createReport } from '@flotilla/dev/report';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { describeCampaign } from './describe-campaign.ts';
import { faults } from './faults/strike-at-random.ts';
import { runCampaign } from './run-campaign.ts';

const help = `Runs many small tasks while everything they need breaks at random, then proves that nothing was lost or done twice.

  npm run chaos -- [--seconds 60] [--seed N] [--tasks N] [--only WORD,WORD] [--json] [--list] [--help]

  --seconds   how long things break; default 60. The campaign ends once everything is quiet after that
  --seed      the same seed breaks the same things in the same order; default: one made up and printed
  --tasks     how many tasks are published; default: one for each four seconds
  --only      faults whose name contains one of these words
  --list      names of all faults
  --json      the report as JSON on standard output

It brings up its own servers, Docker engine, disk and fleet, and removes them. Needs root and dockerd. Reports are kept in .data/chaos.
Exit code: 0 when every promise was kept, 1 when one was not, 2 when the campaign could not be run.
`;

const secondsPerTask = 4;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    tasks: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) process.stdout.write(help);
else if (values.list) process.stdout.write(faults.map(({ name }) => `${name}\n`).join(''));
else process.exitCode = await main();

async function main(): Promise<number> {
  const report = createReport(chooseSink(values.json ? process.stderr : process.stdout, false));
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  try {
    const seconds = readNumber('seconds', values.seconds);
    const seed = values.seed === undefined ? Date.now() % 1_000_000 : readNumber('seed', values.seed);
    report.say('chaos', `seed ${seed}, ${seconds} s`);
    const campaign = await runCampaign({
      seed,
      seconds,
      tasks: values.tasks === undefined ? Math.ceil(seconds / secondsPerTask) : readNumber('tasks', values.tasks),
      only: values.only?.split(',') ?? [],
      report,
      signal: stopped.signal,
    });
    const directory = join(repositoryDirectory, '.data/chaos');
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `seed-${seed}.json`), JSON.stringify(campaign, undefined, 2));
    process.stdout.write(values.json ? `${JSON.stringify(campaign)}\n` : describeCampaign(campaign));
    return campaign.violations.length === 0 ? 0 : 1;
  } catch (error) {
    process.stderr.write(`The campaign could not be run: ${wordsOf(error)}\n`);
    return 2;
  }
}

function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${name} wants a whole number, not ${text}`);
  return number;
}

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return `${error.message}: ${error.errors.map(wordsOf).join('; ')}`;
  return error instanceof Error ? error.message : String(error);
}
