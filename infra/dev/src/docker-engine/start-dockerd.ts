import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, open, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { findCommand } from '../find-command.ts';
import { hasSystemd } from '../machine/has-systemd.ts';
import { makeMachineDirectory } from '../machine/machine-directory.ts';
import { reportWhile } from '../report.ts';
import type { Report } from '../report.ts';
import { lastWords, runCommand } from '../run-command.ts';
import { connectToDocker } from './connect.ts';
import type { DockerConnection } from './connect.ts';

export interface StartDockerdOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

type Answering = Extract<DockerConnection, { kind: 'answers' }>;

const readyMs = 60_000;
const pollMs = 100;

/**
 * Starts the machine's Docker engine with its bridge, by systemd where that runs, and leaves it running. Where the kernel
 * refuses today's iptables, its older form is tried. Throws DOCKER_MISSING with the engine's last words.
 */
export async function startDockerd(options: StartDockerdOptions): Promise<Answering> {
  return reportWhile(
    options.report,
    'docker',
    'starting the Docker engine',
    async (activity) => {
      if (await hasSystemd()) return startUnit(options);
      const first = await startByHand(options, []);
      if (first.kind === 'answers') return first;
      const legacy = isAboutBridge(first.reason) ? await layLegacyIptables(options.environment) : undefined;
      if (legacy === undefined) throw describeFailure(first.reason);
      activity.update('starting the Docker engine with legacy iptables');
      const second = await startByHand(options, [legacy]);
      if (second.kind === 'answers') return second;
      throw describeFailure(second.reason);
    },
    ({ version, at }) => `started version ${version} at ${at} on this machine, where it stays`,
    options.signal,
  );
}

async function startUnit({ environment, signal }: StartDockerdOptions): Promise<Answering> {
  const result = await runCommand('systemctl', ['start', 'docker'], signal === undefined ? {} : { signal });
  const connection = await connectToDocker(environment);
  if (connection.kind === 'answers') return connection;
  throw new FlotillaError(errors.dockerMissing, { reason: `systemctl start docker: ${lastWords(result)}` });
}

type Started = Answering | { readonly kind: 'failed'; readonly reason: string };

async function startByHand(
  { environment, signal }: StartDockerdOptions,
  pathBefore: readonly string[],
): Promise<Started> {
  const dockerd = await findCommand('dockerd', environment);
  if (dockerd === undefined) return { kind: 'failed', reason: 'dockerd is not installed' };
  const logPath = join(await makeMachineDirectory(), 'docker.log');
  const child = await launch(dockerd, logPath, environment, pathBefore);
  const ended = new Promise<'ended'>((resolve) => {
    child.on('error', () => resolve('ended'));
    child.on('exit', () => resolve('ended'));
  });
  const deadline = performance.now() + readyMs;
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    const connection = await connectToDocker(environment);
    if (connection.kind === 'answers') return connection;
    if ((await Promise.race([ended, delay(pollMs)])) === 'ended')
      return { kind: 'failed', reason: `${await readComplaint(logPath)} (${logPath})` };
  }
  child.kill();
  return { kind: 'failed', reason: `dockerd did not answer within ${readyMs / 1_000} s (${logPath})` };
}

/** In a session of its own and with nothing of our environment but what an engine needs. */
async function launch(
  dockerd: string,
  logPath: string,
  environment: StartDockerdOptions['environment'],
  pathBefore: readonly string[],
): Promise<ChildProcess> {
  const log = await open(logPath, 'w', 0o600);
  const path = [
    ...pathBefore,
    '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    environment['PATH'] ?? '',
  ].join(':');
  const proxies = Object.entries(environment).filter(([name]) => /^(https?|no)_proxy$/i.test(name));
  const child = spawn(dockerd, [], {
    cwd: '/',
    detached: true,
    env: { ...Object.fromEntries(proxies), PATH: path, HOME: '/root' },
    stdio: ['ignore', log.fd, log.fd],
  });
  child.unref();
  child.on('spawn', () => void log.close());
  child.on('error', () => void log.close());
  return child;
}

async function readComplaint(logPath: string): Promise<string> {
  const lines = (await readFile(logPath, 'utf8').catch(() => '')).split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => /fail|error|denied|permi/i.test(line)) ?? lines.at(-1) ?? 'it ended without a word';
}

function isAboutBridge(reason: string): boolean {
  return /iptables|nf_tables|bridge|network controller/i.test(reason);
}

function describeFailure(reason: string): FlotillaError {
  const cause = isAboutBridge(reason)
    ? 'dockerd cannot set up its bridge network; it needs the right to change iptables'
    : 'dockerd ended';
  return new FlotillaError(errors.dockerMissing, { reason: `${cause}: ${reason}` });
}

/** A directory in which `iptables` is the legacy one; `undefined` where that is not installed. */
async function layLegacyIptables(environment: StartDockerdOptions['environment']): Promise<string | undefined> {
  const directory = join(await makeMachineDirectory(), 'iptables-legacy');
  await mkdir(directory, { recursive: true });
  for (const name of ['iptables', 'ip6tables']) {
    const legacy = await findCommand(`${name}-legacy`, environment);
    if (legacy === undefined) return undefined;
    await symlink(legacy, join(directory, name)).catch(() => undefined);
  }
  return directory;
}
