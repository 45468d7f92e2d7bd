import { join } from 'node:path';
import { mkdir, rm } from 'node:fs/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { takeFileLock } from './machine/file-lock.ts';
import { installPackages } from './machine/debian-packages.ts';
import type { Report } from './report.ts';
import { runCompose } from './servers/compose.ts';
import { findSource } from './servers/facts.ts';
import { keepPasswords } from './servers/passwords.ts';
import type { Passwords } from './servers/passwords.ts';
import { probeServer } from './servers/probe.ts';
import { runNats } from './servers/run-nats.ts';
import { runPostgres } from './servers/run-postgres.ts';
import { runRedis } from './servers/run-redis.ts';
import { urlVariables } from './servers/source.ts';
import type { ServerName, ServerSource } from './servers/source.ts';

export interface BringUpOptions {
  /** Absolute path of what belongs to this clone; made when missing. */
  readonly dataDirectory: string;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A block of NATS configuration with users and permissions, in place of one user who may do everything. */
  readonly natsAuthorization?: string | undefined;
}

export interface RunningServer {
  /** With its credentials; for NATS with `natsAuthorization` without any. */
  readonly url: string;
  readonly how: 'environment' | 'program' | 'npm' | 'compose' | 'apt';
  readonly version: string;
  /** Ends it when it is ours. Safe to repeat. */
  stop(): Promise<void>;
}

export interface Servers {
  readonly nats: RunningServer;
  readonly redis: RunningServer;
  readonly postgres: RunningServer;
  /** Ends what is ours in reverse order and frees the data directory. Safe to repeat. */
  stop(): Promise<void>;
}

type FoundSource = Exclude<ServerSource, { kind: 'look_at_compose' }>;

const names = ['nats', 'redis', 'postgres'] as const satisfies readonly ServerName[];

/**
 * Brings up NATS, Redis and Postgres, each from the first of: the URL in the environment, programs on this machine, npm,
 * docker compose, apt; says which. One bring-up per data directory at a time (ALREADY_RUNNING); any number of a machine.
 * Throws SERVER_SILENT, SERVER_MISSING, SERVER_DATA_UNREADABLE or SERVER_NOT_STARTED, with nothing left running.
 */
export async function bringUpServers(options: BringUpOptions): Promise<Servers> {
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const release = await claimDataDirectory(options);
  const started = new Map<ServerName, RunningServer>();
  const stop = async (): Promise<void> => {
    for (const name of names.toReversed()) await started.get(name)?.stop();
    await release();
  };
  try {
    const sources = await settleSources(options);
    const passwords = await keepPasswords(options.dataDirectory);
    const results = await Promise.allSettled(
      names.map(async (name) => {
        const server = await start(name, sources[name], { ...options, passwords });
        started.set(name, server);
        return server;
      }),
    );
    const [nats, redis, postgres] = results.map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    });
    if (nats === undefined || redis === undefined || postgres === undefined) throw new Error('a server has no result');
    return { nats, redis, postgres, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function claimDataDirectory({ dataDirectory, signal }: BringUpOptions): Promise<() => Promise<void>> {
  const lock = await takeFileLock(
    { path: join(dataDirectory, 'servers.lock'), purpose: 'running the servers', signal },
    'at_once',
  );
  if (lock.kind === 'taken')
    throw new FlotillaError(errors.alreadyRunning, { directory: dataDirectory, pid: lock.holder?.pid ?? 'unknown' });
  return lock.release;
}

/** Where each comes from. What apt must give is installed at once, and then is a program on this machine. */
async function settleSources(
  options: BringUpOptions,
): Promise<Record<ServerName, FoundSource & { readonly installed?: true }>> {
  const find = async (server: ServerName): Promise<FoundSource> =>
    checkSource(server, await findSource({ ...options, server }));
  const [nats, redis, postgres] = await Promise.all([find('nats'), find('redis'), find('postgres')]);
  const sources = { nats, redis, postgres };
  const packages = Object.values(sources).flatMap((source) => (source.kind === 'apt' ? [source.package] : []));
  if (packages.length === 0) return sources;
  await installPackages({ ...options, packages });
  const again = async (server: ServerName): Promise<FoundSource & { readonly installed?: true }> => {
    if (sources[server].kind !== 'apt') return sources[server];
    const source = await find(server);
    if (source.kind !== 'program')
      throw new FlotillaError(errors.serverMissing, {
        server,
        reasons: 'apt installed its package, but no program is there',
        variable: urlVariables[server],
      });
    return { ...source, installed: true };
  };
  return { nats: await again('nats'), redis: await again('redis'), postgres: await again('postgres') };
}

function checkSource(server: ServerName, source: FoundSource): FoundSource {
  if (source.kind === 'missing') {
    throw new FlotillaError(errors.serverMissing, {
      server,
      reasons: source.reasons.join('; '),
      variable: urlVariables[server],
    });
  }
  if (source.kind === 'unreadable_data') {
    throw new FlotillaError(errors.serverDataUnreadable, {
      server,
      dataVersion: source.dataVersion,
      found: source.found.join(', '),
    });
  }
  return source;
}

async function start(
  server: ServerName,
  source: FoundSource & { readonly installed?: true },
  options: BringUpOptions & { readonly passwords: Passwords },
): Promise<RunningServer> {
  const { dataDirectory, passwords, report, signal, natsAuthorization } = options;
  if (source.kind === 'url') {
    const running = await useUrl(server, source.url);
    // The port of an earlier run would be taken for that of a server of ours that is silent.
    await rm(join(dataDirectory, `${server}.port`), { force: true });
    report.say(server, `version ${running.version} at the address in ${urlVariables[server]}`);
    return running;
  }
  const shared = { dataDirectory, passwords, natsAuthorization, report, signal };
  switch (source.kind) {
    case 'program':
    case 'embedded': {
      const run = { nats: runNats, redis: runRedis, postgres: runPostgres }[server];
      const { url, version, stop } = await run({ ...shared, program: source.program });
      const origin = source.kind === 'embedded' ? 'the npm package' : source.program.directory;
      report.say(server, `version ${version} of ${origin} on port ${new URL(url).port}`);
      return {
        url,
        version,
        stop,
        how: source.kind === 'embedded' ? 'npm' : source.installed === true ? 'apt' : 'program',
      };
    }
    case 'compose': {
      const composed = await runCompose({ ...shared, server, command: source.command });
      report.say(server, `version ${composed.version} in a container on port ${new URL(composed.url).port}`);
      return { ...composed, how: 'compose' };
    }
    case 'apt':
    case 'missing':
    case 'unreadable_data':
      throw new Error(`${server} cannot be started from ${source.kind}`);
  }
}

async function useUrl(server: ServerName, url: string): Promise<RunningServer> {
  const probe = await probeServer(server, url);
  if (probe.kind === 'silent')
    throw new FlotillaError(errors.serverSilent, { server, variable: urlVariables[server], reason: probe.reason });
  return { url, how: 'environment', version: probe.version, stop: async () => undefined };
}
