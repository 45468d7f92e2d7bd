import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { fleetsFile, registerFleet, unregisterFleet } from '@flotilla/cli/fleet/fleets-file';
import { checkModel } from './doctor/check-model.ts';
import { openLogOutput } from './fleet/log-output.ts';
import { startFleet, type Fleet } from './fleet/start-fleet.ts';
import { chooseSink } from './report-sinks.ts';
import { createReport } from './report.ts';
import { repositoryDirectory } from './repository.ts';

const help = `Brings up everything a fleet needs on this machine, starts it and stays. Ctrl-C drains and stops it.

  npm start -- [options]

  --all-in-one     all services in one process: the small deployment
  --port N         port of the gateway; default 7420, or a free one where that is taken
  --data DIR       where data is kept; default .data/fleet in this clone
  --json           JSON lines also on a terminal
  --help           this text

NATS, Redis and Postgres come from NATS_URL, REDIS_URL and DATABASE_URL where they are set; FLOTILLA_MODEL and
FLOTILLA_MODEL_KEY name the language model. infra/reference/settings.md lists every setting.
`;

const { values } = readArguments();
if (values.help === true) process.stdout.write(help);
else process.exitCode = await run();

async function run(): Promise<number> {
  const json = values.json === true || process.stdout.isTTY !== true;
  const report = createReport(chooseSink(process.stdout, json));
  const registry = fleetsFile(process.env);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  const model = checkModel(process.env);
  model.catch(() => undefined);
  let fleet: Fleet | undefined;
  let failure: unknown;
  try {
    const dataDirectory = resolve(repositoryDirectory, values.data ?? '.data/fleet');
    fleet = await startFleet({
      dataDirectory,
      report,
      signal: stopped.signal,
      environment: process.env,
      httpPort: readPort(values.port),
      allInOne: values['all-in-one'] === true,
      onLogLine: openLogOutput({ write: report.print }, json),
      onGivenUp: (error) => {
        failure = error;
        stopped.abort(error);
      },
    });
    const { url, tokenFile } = fleet;
    await registerFleet(registry, { url, tokenFile, dataDirectory, pid: process.pid, clone: repositoryDirectory });
    const { ok, detail, fix = '' } = await model;
    if (!ok) report.warn('model', `${detail}. ${fix}`);
    report.print(json ? describeForPrograms(fleet) : describeForPeople(fleet));
    if (!stopped.signal.aborted)
      await new Promise((resolve) => stopped.signal.addEventListener('abort', resolve, { once: true }));
  } catch (error) {
    if (!stopped.signal.aborted) failure = error;
  }
  if (fleet !== undefined) {
    report.say('fleet', 'draining and stopping');
    await unregisterFleet(registry, { pid: process.pid, url: fleet.url });
    await fleet.stop();
    report.say('fleet', `stopped; its data stays in ${fleet.dataDirectory}`);
  }
  if (failure === undefined) return 0;
  report.fail('fleet', failure instanceof FlotillaError ? `${failure.message}. ${failure.advice}` : String(failure));
  return 1;
}

/** The token is shown to whoever sits at the terminal; anything that may be kept gets the files that hold the secrets. */
function describeForPeople({ url, token, brokerUrl, logsDirectory }: Fleet): string {
  const model =
    process.env['FLOTILLA_MODEL'] ??
    'none: set FLOTILLA_MODEL, for example compatible:NAME@URL; steps that need one fail until then';
  return [
    'The fleet is ready.',
    `  HTTP    ${url}  (${url}/reference in a browser: any user name, the token as password)`,
    `  token   ${token}`,
    `  queue   ${brokerUrl}  (publish on flotilla.tasks.submitted)`,
    `  logs    ${logsDirectory}`,
    `  model   ${model}`,
    '  next    npx flotilla project add NAME --remote URL',
    '',
  ].join('\n');
}

function describeForPrograms({ url, tokenFile, brokerUrlFile, logsDirectory }: Fleet): string {
  const model = process.env['FLOTILLA_MODEL'] ?? null;
  return `${JSON.stringify({ event: 'fleet_ready', url, tokenFile, brokerUrlFile, logsDirectory, model })}\n`;
}

function readArguments(): {
  readonly values: {
    readonly 'all-in-one'?: boolean;
    readonly port?: string;
    readonly data?: string;
    readonly json?: boolean;
    readonly help?: boolean;
  };
} {
  try {
    return parseArgs({
      options: {
        'all-in-one': { type: 'boolean' },
        port: { type: 'string' },
        data: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  process.stderr.write(`--port is a number from 0 to 65535, not ${text}\n`);
  process.exit(2);
}
