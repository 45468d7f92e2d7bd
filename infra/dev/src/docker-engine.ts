import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type Dockerode from 'dockerode';
import { connectToDocker } from './docker-engine/connect.ts';
import type { DockerConnection } from './docker-engine/connect.ts';
import { chooseEngine } from './docker-engine/choose-engine.ts';
import type { EngineFacts } from './docker-engine/choose-engine.ts';
import { startDockerd } from './docker-engine/start-dockerd.ts';
import { findCommand } from './find-command.ts';
import { canInstallPackages, installPackages } from './machine/debian-packages.ts';
import { withMachineLock } from './machine/machine-lock.ts';
import type { Report } from './report.ts';

export interface DockerEngineOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly report: Report;
  readonly signal?: AbortSignal | undefined;
}

export interface DockerEngine {
  readonly docker: Dockerode;
  /** As DOCKER_HOST names it: "unix:///var/run/docker.sock". */
  readonly at: string;
  readonly version: string;
  readonly how: 'environment' | 'socket' | 'dockerd' | 'apt';
}

/** docker.io only recommends iptables, without which it cannot set up its bridge. */
export const enginePackages = ['docker.io', 'iptables'];

/**
 * The Docker engine of this machine: one that answers, else dockerd, started now, else from apt. What is started or installed is
 * the machine's and stays. Throws DOCKER_MISSING: there is no other place to run agents' commands in.
 */
export async function ensureDockerEngine({ environment, report, signal }: DockerEngineOptions): Promise<DockerEngine> {
  const first = await connectToDocker(environment);
  if (first.kind === 'answers') {
    report.say('docker', `version ${first.version} answers at ${first.at}`);
    return { ...first, how: isSet(environment['DOCKER_HOST']) ? 'environment' : 'socket' };
  }
  const choice = chooseEngine(await gatherEngineFacts(environment, first));
  if (choice.kind === 'missing') throw new FlotillaError(errors.dockerMissing, { reason: choice.reason });
  if (choice.kind === 'apt') await installPackages({ packages: enginePackages, report, signal });

  return withMachineLock({ name: 'docker', purpose: 'starting the Docker engine', report, signal }, async () => {
    const again = await connectToDocker(environment);
    const engine = again.kind === 'answers' ? again : await startDockerd({ environment, report, signal });
    return { ...engine, how: choice.kind };
  });
}

/** What decides where a silent engine comes from. */
export async function gatherEngineFacts(
  environment: Readonly<Record<string, string | undefined>>,
  connection: Extract<DockerConnection, { kind: 'silent' }>,
): Promise<EngineFacts> {
  const [dockerd, canInstall] = await Promise.all([findCommand('dockerd', environment), canInstallPackages()]);
  return {
    hostIsSet: isSet(environment['DOCKER_HOST']),
    silence: `${connection.at}: ${connection.reason}`,
    dockerdInstalled: dockerd !== undefined,
    root: process.getuid?.() === 0,
    canInstall,
    linux: process.platform === 'linux',
  };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}
