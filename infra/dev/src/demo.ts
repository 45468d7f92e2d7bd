import { join } from 'node:path';
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

  npm run demo -- [--keep] [--all-in-one] [--help]

  --keep         leave the fleet running afterwards, until Ctrl-C
  --all-in-one   all services in one process

Without FLOTILLA_MODEL the model is scripted. On a terminal you are asked at the gate; without one it is approved.
`;

const { values } = parseArgs({
  options: { keep: { type: 'boolean' }, 'all-in-one': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help === true) process.stdout.write(help);
else process.exitCode = await run();

async function run(): Promise<number> {
  const began = performance.now();
  const report = createReport(chooseSink(process.stdout, false));
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  const directory = join(repositoryDirectory, '.data/demo');
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
    say(
      `\nThe demo took ${Math.round((performance.now() - began) / 1_000)} s. Its model was ${model.description.split(':')[0] ?? ''}.`,
    );
    if (values.keep === true) {
      say(
        `The fleet stays at ${fleet.url} until Ctrl-C. In another terminal: FLOTILLA_URL=${fleet.url} FLOTILLA_TOKEN=${fleet.token} npx flotilla list`,
      );
      if (!stopped.signal.aborted)
        await new Promise((resolve) => stopped.signal.addEventListener('abort', resolve, { once: true }));
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
