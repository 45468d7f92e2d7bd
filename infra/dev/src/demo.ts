import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { chooseDemoModel } from './demo/demo-model.ts';
import { runStory } from './demo/run-story.ts';
import { makeScratchLibrary } from './demo/scratch-library.ts';
import { startFleet, type Fleet } from './fleet/start-fleet.ts';
import { chooseSink } from './report-sinks.ts';
import { createReport } from './report.ts';
import { repositoryDirectory } from './repository.ts';

const help = `Runs the main job once, on this machine, from nothing: a small real library with one defect becomes a scratch
remote; a task is published on the queue; a reviewed change lands on the remote's branch.

  npm run demo -- [--keep] [--all-in-one] [--data DIR] [--help]

  --keep         leave the fleet running afterwards, until Ctrl-C
  --all-in-one   all services in one process
  --data DIR     where its data is kept; default .data/demo in this clone

Without FLOTILLA_MODEL the model is scripted. On a terminal you are asked at the gate; without one it is approved.
`;

const values = readArguments();
if (values.help === true) process.stdout.write(help);
else process.exitCode = await run();

function readArguments(): {
  readonly keep?: boolean;
  readonly 'all-in-one'?: boolean;
  readonly data?: string;
  readonly help?: boolean;
} {
  try {
    return parseArgs({
      options: {
        keep: { type: 'boolean' },
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

async function run(): Promise<number> {
  const began = performance.now();
  const report = createReport(chooseSink(process.stdout, false));
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  const directory = resolve(repositoryDirectory, values.data ?? '.data/demo');
  const model = await chooseDemoModel(process.env);
  say(`The model of this demo is ${model.description}.\n`);
  let fleet: Fleet | undefined;
  try {
    const remote = makeScratchLibrary(join(directory, 'library'), join(repositoryDirectory, '.data/cache'));
    remote.catch(() => undefined);
    fleet = await startFleet({
      dataDirectory: join(directory, 'fleet'),
      report,
      signal: stopped.signal,
      environment: process.env,
      settings: model.settings,
      allInOne: values['all-in-one'] === true,
      onGivenUp: (error) => stopped.abort(error),
    });
    const interactive = process.stdin.isTTY && process.stdout.isTTY;
    const code = await runStory({ fleet, remote: await remote, interactive, signal: stopped.signal, say });
    const seconds = Math.round((performance.now() - began) / 1_000);
    const came = code === 0 ? 'The demo came through' : 'The demo did NOT come through: the run above did not land';
    say(`\n${came}, in ${seconds} s. Its model was ${model.description.split(':')[0] ?? ''}.`);
    if (values.keep === true) {
      say(
        `The fleet stays at ${fleet.url} until Ctrl-C. In another terminal: FLOTILLA_URL=${fleet.url} FLOTILLA_TOKEN=${fleet.token} npx flotilla list`,
      );
      if (!stopped.signal.aborted)
        await new Promise((wake) => stopped.signal.addEventListener('abort', wake, { once: true }));
      say('stopping');
    }
    return code;
  } catch (error) {
    const cause: unknown = stopped.signal.aborted ? stopped.signal.reason : error;
    process.stderr.write(
      `${cause instanceof FlotillaError ? `${cause.message}. ${cause.advice}` : cause instanceof Error ? cause.message : String(cause)}\n`,
    );
    return 1;
  } finally {
    await fleet?.stop();
    await model.close();
  }
}
