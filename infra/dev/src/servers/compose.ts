import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { parse } from 'yaml';
import { connectToDocker } from '../docker-engine/connect.ts';
import { repositoryDirectory } from '../repository.ts';
import { reportWhile, silentReport } from '../report.ts';
import type { Report } from '../report.ts';
import { lastWords, runCommand } from '../run-command.ts';
import { pullImage } from '../sandbox-image/registry-base.ts';
import { takePort } from './free-port.ts';
import { renderNatsConfig, renderSingleUser } from './nats-config.ts';
import type { Passwords } from './passwords.ts';
import { probeBanner, probeServer } from './probe.ts';
import type { ComposeFact, ServerName } from './source.ts';
import { urlOf } from './url-of.ts';

const composePath = join(repositoryDirectory, 'compose.yaml');
const readyMs = 60_000;

export interface ComposeLook {
  readonly server: ServerName;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

/** Whether `docker compose`, or docker-compose 1, can run a server's image: it is local, or a registry gives it now. */
export async function lookAtCompose({ server, environment, signal }: ComposeLook): Promise<ComposeFact> {
  const connection = await connectToDocker(environment);
  if (connection.kind === 'silent') return { kind: 'unusable', reason: 'no Docker engine answers' };
  const command = await findCompose();
  if (command === undefined) return { kind: 'unusable', reason: 'neither the plugin nor docker-compose is installed' };
  const image = await readImage(server);
  const activity = silentReport.begin(server, '');
  const pulled = await pullImage({ docker: connection.docker, image, activity, signal });
  return pulled.kind === 'here'
    ? { kind: 'usable', command }
    : { kind: 'unusable', reason: `${image}: ${pulled.reason}` };
}

async function findCompose(): Promise<readonly [string, ...string[]] | undefined> {
  if ((await runCommand('docker', ['compose', 'version'])).code === 0) return ['docker', 'compose'];
  if ((await runCommand('docker-compose', ['version'])).code === 0) return ['docker-compose'];
  return undefined;
}

async function readImage(server: ServerName): Promise<string> {
  // compose.yaml of this repository: each of its services names an image.
  const { services } = parse(await readFile(composePath, 'utf8')) as {
    readonly services: Readonly<Record<string, { readonly image: string }>>;
  };
  return services[server]?.image ?? server;
}

export interface RunCompose {
  readonly server: ServerName;
  readonly command: readonly [string, ...string[]];
  readonly dataDirectory: string;
  readonly passwords: Passwords;
  readonly natsAuthorization?: string | undefined;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

export interface ComposedServer {
  readonly url: string;
  readonly version: string;
  stop(): Promise<void>;
}

/**
 * Runs one service of compose.yaml, its data in a volume. Each has a project of its own, named after the data directory:
 * compose makes a project's network twice when two of its services come up at once.
 */
export async function runCompose(options: RunCompose): Promise<ComposedServer> {
  const { server, command, dataDirectory, passwords, natsAuthorization, report, signal } = options;
  const port = await takePort(join(dataDirectory, `${server}.port`));
  const environment = { ...process.env, ...(await layEnvironment(options, port)) };
  const project = `flotilla-${createHash('sha256').update(dataDirectory).digest('hex').slice(0, 8)}-${server}`;
  const [program, ...first] = command;
  const args = [...first, '--project-name', project, '--file', composePath];
  const stop = guard([program, ...args, 'down'], environment);
  const whole = urlOf(server, passwords, port);
  const url = server === 'nats' && natsAuthorization !== undefined ? `nats://${new URL(whole).host}` : whole;
  try {
    const work = async (): Promise<ComposedServer> => {
      const up = await runCommand(program, [...args, 'up', '--detach', server], {
        environment,
        ...(signal && { signal }),
      });
      if (up.code !== 0)
        throw new FlotillaError(errors.serverNotStarted, { server, reason: lastWords(up), log: composePath });
      return { url, version: await waitUntilReady(server, url, natsAuthorization !== undefined, signal), stop };
    };
    return await reportWhile(report, server, 'starting its container', work, undefined, signal);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function layEnvironment(
  { server, dataDirectory, passwords, natsAuthorization }: RunCompose,
  port: number,
): Promise<Record<string, string>> {
  const directory = join(dataDirectory, 'compose');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const configPath = join(directory, 'nats.conf');
  if (server === 'nats') {
    const authorization = natsAuthorization ?? renderSingleUser('flotilla', passwords.nats);
    const config = renderNatsConfig({
      listen: '0.0.0.0:4222',
      storeDirectory: '/data',
      version: '2.10.0',
      authorization,
    });
    await writeFile(configPath, config, { mode: 0o600 });
  }
  return {
    FLOTILLA_NATS_CONFIG: configPath,
    FLOTILLA_REDIS_PASSWORD: passwords.redis,
    FLOTILLA_POSTGRES_PASSWORD: passwords.postgres,
    [`FLOTILLA_${server.toUpperCase()}_PORT`]: String(port),
  };
}

async function waitUntilReady(
  server: ServerName,
  url: string,
  authorized: boolean,
  signal: AbortSignal | undefined,
): Promise<string> {
  const deadline = performance.now() + readyMs;
  for (;;) {
    signal?.throwIfAborted();
    const probe = authorized && server === 'nats' ? await probeBanner(url) : await probeServer(server, url);
    if (probe.kind === 'answers') return probe.version;
    if (probe.refused || performance.now() > deadline)
      throw new FlotillaError(errors.serverNotStarted, { server, reason: probe.reason, log: composePath });
    await delay(100);
  }
}

/** A container is not our child: a shell that lives on our pipe removes it when we ask it to, or when we are gone. */
function guard(removal: readonly string[], environment: NodeJS.ProcessEnv): () => Promise<void> {
  const guardian = spawn('sh', ['-c', 'cat >/dev/null; exec "$@"', 'sh', ...removal], {
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const closed = new Promise<void>((resolve) => {
    guardian.on('error', () => resolve());
    guardian.on('close', () => resolve());
  });
  return async () => {
    guardian.stdin.end();
    await closed;
  };
}
