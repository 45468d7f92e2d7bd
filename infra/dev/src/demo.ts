import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { describeDemoModel } from './demo/demo-model.ts';
import { runStory } from './demo/run-story.ts';
import { fetchLibrary, makeScratchLibrary } from './demo/scratch-library.ts';
import { startKeeper, type Keeper } from './demo/start-keeper.ts';
import { prepareDataDirectory } from './fleet/prepare-data-directory.ts';
import { findRunningFleet, stopRunningFleet } from './fleet/stop-running-fleet.ts';
import { chooseSink } from './report-sinks.ts';
import { createReport, reportWhile } from './report.ts';
import { repositoryDirectory } from './repository.ts';

const help = `Runs the main job once, on this machine, from nothing: a small real library with one defect becomes a scratch
remote; a task is published on the queue; a reviewed change lands on the remote's branch.

  npm run demo -- [--keep | --stop] [--all-in-one] [--data DIR] [--help]

  --keep         leave the fleet running afterwards
  --stop         run nothing, and stop a fleet that was left running
  --all-in-one   all services in one process
  --data DIR     where its data is kept; default .data/demo in this clone

Without FLOTILLA_MODEL the model is scripted. On a terminal you are asked at the gate; without one it is approved.
`;

const interruptedCode = 130;

const values = readArguments();
const demoDirectory = resolve(repositoryDirectory, values.data ?? '.data/demo');
const stopCommand = `npm run demo -- --stop${values.data === undefined ? '' : ` --data ${demoDirectory}`}`;
if (values.help === true) process.stdout.write(help);
else if (values.stop === true) await stop(demoDirectory);
else process.exitCode = await run({ directory: demoDirectory, keep: values.keep === true });

function readArguments(): {
  readonly keep?: boolean;
  readonly stop?: boolean;
  readonly 'all-in-one'?: boolean;
  readonly data?: string;
  readonly help?: boolean;
} {
  try {
    return parseArgs({
      options: {
        keep: { type: 'boolean' },
        stop: { type: 'boolean' },
        'all-in-one': { type: 'boolean' },
        data: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}

async function run({ directory, keep }: { readonly directory: string; readonly keep: boolean }): Promise<number> {
  const began = performance.now();
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const stopped = new AbortController();
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      interrupted ||= signal === 'SIGINT';
      stopped.abort(new Error(`stopped by ${signal}`));
    });
  const model = describeDemoModel(process.env);
  let keeper: Keeper | undefined;
  let storyBegan = false;
  try {
    await prepareDataDirectory(join(directory, 'fleet'));
    await refuseSecond(join(directory, 'fleet'));
    say(`The model of this demo is ${model}.\n`);
    const cache = join(repositoryDirectory, '.data/cache');
    const fetched = fetchLibrary(cache);
    fetched.catch(() => undefined);
    keeper = await startKeeper({
      dataDirectory: join(directory, 'fleet'),
      allInOne: values['all-in-one'] === true,
      sink: chooseSink(process.stdout, false),
      signal: stopped.signal,
      onEnded: (error) => stopped.abort(error),
    });
    // Only now: whoever has the fleet of this directory is the only one to replace its library.
    const remote = await makeScratchLibrary(join(directory, 'library'), await fetched);
    const interactive = process.stdin.isTTY && process.stdout.isTTY;
    // From here on a Ctrl-C ends the watching, and what is to be kept is kept.
    storyBegan = true;
    const code = await runStory({ fleet: keeper.fleet, remote, interactive, signal: stopped.signal, say });
    const seconds = Math.round((performance.now() - began) / 1_000);
    const came = code === 0 ? 'The demo came through' : 'The demo did NOT come through: the run above did not land';
    say(`\n${came}, in ${seconds} s. Its model was ${model.split(':')[0] ?? ''}.`);
    if (keep) {
      await keeper.leave();
      say(describeKept(keeper));
      keeper = undefined;
    }
    return code;
  } catch (error) {
    if (keep && keeper !== undefined && storyBegan && interrupted) {
      await keeper.leave();
      say(describeKept(keeper));
      keeper = undefined;
      return interruptedCode;
    }
    const cause: unknown = stopped.signal.aborted ? stopped.signal.reason : error;
    process.stderr.write(
      `${cause instanceof FlotillaError ? `${cause.message}. ${cause.advice}` : cause instanceof Error ? cause.message : String(cause)}\n`,
    );
    return 1;
  } finally {
    await keeper?.stop();
  }
}

async function refuseSecond(dataDirectory: string): Promise<void> {
  const pid = await findRunningFleet(dataDirectory);
  if (pid !== undefined)
    throw new FlotillaError(errors.demoRunning, { directory: dataDirectory, pid, stop: stopCommand });
}

function describeKept({ fleet, pid }: Keeper): string {
  return [
    `\nThe fleet stays at ${fleet.url}, as process ${pid}; it needs this terminal no longer.`,
    `  token    in ${fleet.tokenFile}`,
    '  look     npx flotilla list, and watch, show, diff or output with the id of a run',
    `  browser  ${fleet.url}/reference (any user name, the token as password)`,
    `  logs     ${join(fleet.dataDirectory, 'logs')}`,
    `  stop     ${stopCommand}`,
  ].join('\n');
}

async function stop(directory: string): Promise<void> {
  const report = createReport(chooseSink(process.stdout, false));
  const dataDirectory = join(directory, 'fleet');
  await reportWhile(
    report,
    'fleet',
    'draining and stopping',
    () => stopRunningFleet(dataDirectory),
    (was) => (was === undefined ? `none of ${dataDirectory} runs` : `stopped; its data stays in ${dataDirectory}`),
  );
}
