import { parseArgs } from 'node:util';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { fleetsFile, registerFleet, unregisterFleet } from '@flotilla/cli/fleet/fleets-file';
import { startDemoModel } from './demo/demo-model.ts';
import { stay, type KeeperMessage } from './demo/keeper-messages.ts';
import { startFleet, type Fleet } from './fleet/start-fleet.ts';
import { createReport } from './report.ts';
import { jsonSink } from './report-sinks.ts';
import { repositoryDirectory } from './repository.ts';

/*
 * The process that a demo's fleet and its model belong to, started by the demo in a session of its own. It ends with the
 * demo, however that ends, until it is told to stay; then it ends by SIGTERM. What it prints goes to its log.
 */
const { values } = parseArgs({ options: { data: { type: 'string' }, 'all-in-one': { type: 'boolean' } } });
if (values.data === undefined || process.send === undefined)
  throw new Error('this program is started by "npm run demo"');
process.exitCode = await keep(values.data);

async function keep(dataDirectory: string): Promise<number> {
  const log = jsonSink((text) => void process.stdout.write(text));
  const report = createReport((event) => {
    log(event);
    tell({ kind: 'report', event });
  });
  const registry = fleetsFile(process.env);
  const stopped = new AbortController();
  let failure: unknown;
  let stays = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => stopped.abort(new Error(`stopped by ${signal}`)));
  process.on('disconnect', () => stays || stopped.abort(new Error('stopped with its demo')));
  const told = new Promise<void>((resolve) => process.on('message', (message) => message === stay && resolve()));
  const ended = new Promise<void>((resolve) => stopped.signal.addEventListener('abort', () => resolve()));

  const model = await startDemoModel(process.env);
  let fleet: Fleet | undefined;
  try {
    fleet = await startFleet({
      dataDirectory,
      report,
      signal: stopped.signal,
      environment: process.env,
      settings: model.settings,
      allInOne: values['all-in-one'] === true,
      onGivenUp: (error) => {
        failure = error;
        stopped.abort(error);
      },
    });
    const { url, token, tokenFile, brokerUrl } = fleet;
    tell({ kind: 'ready', fleet: { url, token, tokenFile, brokerUrl, dataDirectory } });
    await Promise.race([told, ended]);
    if (!stopped.signal.aborted) {
      stays = true;
      await registerFleet(registry, { url, tokenFile, dataDirectory, pid: process.pid, clone: repositoryDirectory });
      tell({ kind: 'stays' });
      await ended;
    }
  } catch (error) {
    if (!stopped.signal.aborted) failure = error;
  }
  if (failure !== undefined) {
    const text = failure instanceof FlotillaError ? `${failure.message}. ${failure.advice}` : String(failure);
    log({ kind: 'failed', subject: 'fleet', text, seconds: 0, activity: 0 });
    tell({ kind: 'failed', text });
  }
  if (fleet !== undefined) {
    await unregisterFleet(registry, { pid: process.pid, url: fleet.url });
    await fleet.stop();
  }
  await model.close();
  if (process.connected) process.disconnect();
  return failure === undefined ? 0 : 1;
}

/** The demo may be gone; then nobody listens. */
function tell(message: KeeperMessage): void {
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}
