import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { isLockTaken } from '../machine/file-lock.ts';
import { findSource } from '../servers/facts.ts';
import { probeServer } from '../servers/probe.ts';
import { readRunning } from '../servers/running.ts';
import { isAtLeast, oldestVersions, urlVariables } from '../servers/source.ts';
import type { ServerName } from '../servers/source.ts';
import { fail, note, pass } from './check.ts';
import type { Check, DoctorContext, Finding } from './check.ts';

const titles: Readonly<Record<ServerName, string>> = { nats: 'NATS', redis: 'Redis', postgres: 'Postgres' };

/** Each server: that the running one answers, or which way one would be given. */
export function serverChecks(context: DoctorContext): readonly Check[] {
  const names = ['nats', 'redis', 'postgres'] as const satisfies readonly ServerName[];
  return names.map((server) => ({
    id: `server.${server}`,
    title: titles[server],
    run: () => checkServer(server, context),
  }));
}

async function checkServer(server: ServerName, context: DoctorContext): Promise<Finding> {
  const running = await readRunning(server, context.dataDirectory);
  if (running !== undefined) return pass(`version ${running.version} runs on port ${running.port}`);
  if (context.environment[urlVariables[server]] === undefined && (await isFleetUp(context))) {
    return (await hasPort(server, context))
      ? fail(
          'does not answer, though the fleet of this data directory runs',
          'The fleet starts it again by itself; where it stays silent, read its log and start the fleet anew.',
        )
      : pass('given to the running fleet by its address');
  }
  const source = await findSource({ ...context, server });
  switch (source.kind) {
    case 'url':
      return checkUrl(server, source.url);
    case 'program':
      return pass(`version ${source.program.version} of ${source.program.directory} will be started`);
    case 'embedded':
      return pass(`version ${source.program.version} of the npm package will be started`);
    case 'compose':
      return pass(`a container will be started with ${source.command.join(' ')}`);
    case 'apt':
      return note('not installed', `${source.package} will be installed with apt by "npm start", as root, and stays.`);
    case 'unreadable_data':
      return explain(
        new FlotillaError(errors.serverDataUnreadable, {
          server,
          dataVersion: source.dataVersion,
          found: source.found.join(', '),
        }),
      );
    case 'missing':
      return explain(
        new FlotillaError(errors.serverMissing, {
          server,
          reasons: source.reasons.join('; '),
          variable: urlVariables[server],
        }),
      );
  }
}

function isFleetUp({ dataDirectory }: DoctorContext): Promise<boolean> {
  return isLockTaken(join(dataDirectory, 'servers.lock'));
}

/** A server that was started for this data directory has left its port there. */
async function hasPort(server: ServerName, { dataDirectory }: DoctorContext): Promise<boolean> {
  return Number(await readFile(join(dataDirectory, `${server}.port`), 'utf8').catch(() => '0')) > 0;
}

async function checkUrl(server: ServerName, url: string): Promise<Finding> {
  const probe = await probeServer(server, url);
  if (probe.kind === 'silent') {
    return explain(
      new FlotillaError(errors.serverSilent, { server, variable: urlVariables[server], reason: probe.reason }),
    );
  }
  const oldest = oldestVersions[server];
  if (isAtLeast(probe.version, oldest))
    return pass(`version ${probe.version} answers at the address in ${urlVariables[server]}`);
  return fail(
    `version ${probe.version}, older than ${oldest}`,
    `Give ${urlVariables[server]} a server of version ${oldest} or newer.`,
  );
}

function explain(error: FlotillaError): Finding {
  return fail(error.message, error.advice);
}
