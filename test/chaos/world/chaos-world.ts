import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureDockerEngine } from '@flotilla/dev/docker-engine';
import { keepFleetSecrets } from '@flotilla/dev/fleet/fleet-secrets';
import { startFleet, type Fleet } from '@flotilla/dev/fleet/start-fleet';
import type { Report } from '@flotilla/dev/report';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { ensureSandboxImage } from '@flotilla/dev/sandbox-image';
import { bringUpServers, type Servers } from '@flotilla/dev/servers';
import type { Script } from '@flotilla/testing/scripted-model/script';
import { startScriptedModel } from '@flotilla/testing/scripted-model/start-scripted-model';
import { FleetClient } from '../../fleet/harness/fleet-client.ts';
import { serveGit } from '../../fleet/harness/serve-git.ts';
import { dropAcks, type AckLoss } from './drop-acks.ts';
import { startFaultyProxy, type FaultyProxy } from './faulty-proxy.ts';
import { mountSmallDisk, type SmallDisk } from './full-disk.ts';
import { startPrivateDocker, type PrivateDocker } from './private-docker.ts';

export const ownServers = ['nats', 'redis', 'postgres'] as const;
export type OwnServer = (typeof ownServers)[number];
export type Way = OwnServer | 'remotes';

/** A fleet of separate processes, and a hand on everything that it stands on. */
export interface ChaosWorld {
  readonly directory: string;
  readonly fleet: Fleet;
  readonly client: FleetClient;
  readonly installation: string;
  /** Straight to the servers, past the faults. */
  readonly urls: Readonly<Record<OwnServer, string>>;
  readonly ways: Readonly<Record<Way, FaultyProxy>>;
  /** Bare repositories lie here, and are served over HTTP through their way. */
  readonly remotesDirectory: string;
  readonly acks: AckLoss;
  readonly docker: PrivateDocker;
  /** The fleet's data directory lies on it; undefined where this machine mounts nothing for us. */
  readonly disk: SmallDisk | undefined;
  /** Process of a server, to be ended. It is started again on its own. */
  pidOf(server: OwnServer): Promise<number>;
  close(): Promise<void>;
}

export interface ChaosWorldOptions {
  readonly script: Script;
  readonly report: Report;
  readonly signal: AbortSignal;
  readonly onGivenUp: (error: Error) => void;
}

/** Brings up servers, a Docker engine, a disk, a scripted model and a fleet. Whatever fails, nothing of it is left. */
export async function openChaosWorld(options: ChaosWorldOptions): Promise<ChaosWorld> {
  const undo: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    const troubles: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => troubles.push(error));
    if (troubles.length > 0) throw new AggregateError(troubles, 'the campaign could not clear up after itself');
  };
  try {
    return { ...(await open(options, (step) => void undo.push(step))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Undo = (step: () => Promise<unknown>) => void;

async function open(options: ChaosWorldOptions, undo: Undo): Promise<Omit<ChaosWorld, 'close'>> {
  const { report, signal } = options;
  const parent = join(repositoryDirectory, '.data/chaos');
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(parent, 'campaign-'));
  undo(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  const fleetDirectory = join(directory, 'fleet');
  const disk = await mountSmallDisk(fleetDirectory).catch((error: unknown) => {
    report.warn('chaos', `the disk will not be filled: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  });
  if (disk !== undefined) undo(() => disk.remove());
  const docker = await openDocker(options, directory, undo);
  const servers = await openServers(options, join(directory, 'servers'));
  undo(() => servers.stop());
  const acks: AckLoss = { losing: false, lost: 0 };
  const remotesDirectory = join(directory, 'remotes');
  const git = await serveGit(remotesDirectory);
  undo(() => git.close());
  const ways = await openWays(servers, git.port, acks);
  for (const way of Object.values(ways)) undo(() => way.close());
  const model = await startScriptedModel({ script: options.script });
  undo(() => model.close());
  const fleet = await startFleet({
    dataDirectory: fleetDirectory,
    report,
    signal,
    httpPort: 0,
    environment: { ...process.env, ...addressesThrough(servers, ways), DOCKER_HOST: docker.host },
    settings: { FLOTILLA_MODEL: `compatible:scripted@${model.url}` },
    onGivenUp: options.onGivenUp,
  });
  undo(() => fleet.stop());
  return {
    directory,
    fleet,
    client: new FleetClient(fleet.url, fleet.token),
    installation: (await keepFleetSecrets(fleetDirectory)).installation,
    urls: { nats: servers.nats.url, redis: servers.redis.url, postgres: servers.postgres.url },
    ways,
    remotesDirectory,
    acks,
    docker,
    disk,
    pidOf: async (server) => Number(await readFile(join(directory, 'servers', `${server}.pid`), 'utf8')),
  };
}

async function openDocker(
  { report, signal }: ChaosWorldOptions,
  directory: string,
  undo: Undo,
): Promise<PrivateDocker> {
  const shared = { environment: process.env, report, signal };
  const machine = await ensureDockerEngine(shared);
  const { image } = await ensureSandboxImage({ ...shared, docker: machine.docker });
  // A unix socket's path has at most 107 bytes.
  const socketDirectory = await mkdtemp(join(tmpdir(), 'flotilla-chaos-'));
  undo(() => rm(socketDirectory, { recursive: true, force: true }));
  const docker = await startPrivateDocker({
    directory: join(directory, 'docker'),
    socketDirectory,
    from: machine.docker,
    image,
  });
  undo(() => docker.stop());
  return docker;
}

/** Its own, whatever the environment offers: they will be ended. */
function openServers({ report, signal }: ChaosWorldOptions, dataDirectory: string): Promise<Servers> {
  const { DATABASE_URL: _database, NATS_URL: _nats, REDIS_URL: _redis, ...environment } = process.env;
  return bringUpServers({ dataDirectory, report, signal, environment });
}

async function openWays(servers: Servers, gitPort: number, acks: AckLoss): Promise<ChaosWorld['ways']> {
  const placeOf = (server: OwnServer): { readonly host: string; readonly port: number } => {
    const { hostname, port } = new URL(servers[server].url);
    return { host: hostname, port: Number(port) };
  };
  return {
    nats: await startFaultyProxy({ ...placeOf('nats'), fromClient: () => dropAcks(acks) }),
    redis: await startFaultyProxy(placeOf('redis')),
    postgres: await startFaultyProxy(placeOf('postgres')),
    remotes: await startFaultyProxy({ host: '127.0.0.1', port: gitPort }),
  };
}

function addressesThrough(servers: Servers, ways: ChaosWorld['ways']): Readonly<Record<string, string>> {
  const through = (server: OwnServer): string => {
    const url = new URL(servers[server].url);
    url.hostname = '127.0.0.1';
    url.port = String(ways[server].port);
    return url.href;
  };
  return { NATS_URL: through('nats'), REDIS_URL: through('redis'), DATABASE_URL: through('postgres') };
}
