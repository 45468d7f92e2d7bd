import type Dockerode from 'dockerode';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiClient } from '@flotilla/cli/client/api-client';
import { ListProjects } from '@flotilla/contracts/calls/list-projects';
import { renderNatsAuthorization } from '@flotilla/contracts/principals';
import { settings } from '@flotilla/contracts/settings';
import { ensureDockerEngine } from '../docker-engine.ts';
import { runConfined } from '../doctor/run-confined.ts';
import { ensureSandboxImage } from '../sandbox-image.ts';
import { bringUpServers } from '../servers.ts';
import { buildServices } from './build-services.ts';
import { clearSlots } from './clear-slots.ts';
import { describeServices, type FleetFacts, type SandboxFacts } from './describe-services.ts';
import type { FleetOptions } from './fleet-options.ts';
import { keepFleetSecrets, writePrivately } from './fleet-secrets.ts';
import { prepareDataDirectory } from './prepare-data-directory.ts';
import { readHostRegistries } from './host-registries.ts';
import { readPublishers } from './read-publishers.ts';
import type { Supervised } from './supervise.ts';
import { superviseOnFreePort } from './supervise-on-free-port.ts';
import { reapCredentials } from './reap-credentials.ts';
import { takeOverSlots } from './take-over-slots.ts';

const publishersVariable = settings.publishersFile.variable;

/** A fleet that runs on this machine. */
export interface Fleet {
  readonly url: string;
  readonly token: string;
  /** Holds the token and nothing else; mode 0600. */
  readonly tokenFile: string;
  readonly dataDirectory: string;
  readonly logsDirectory: string;
  /** Address and user with which the local user publishes tasks. */
  readonly brokerUrl: string;
  /** Holds that address and nothing else; mode 0600. */
  readonly brokerUrlFile: string;
  readonly sandboxImage: string;
  /** With its password. */
  readonly databaseUrl: string;
  readonly services: Supervised;
  /** Drains and stops the services, removes the sandboxes that any of them left, and stops the servers that are ours. Safe to repeat. */
  stop(): Promise<void>;
}

/** Brings up what a fleet needs, compiles and starts it. Whatever fails, nothing of ours is left running. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { dataDirectory, report, environment } = options;
  for (const path of await prepareDataDirectory(dataDirectory))
    report.warn('data', `${path} could be read by others and is for its owner alone now`);
  const secrets = await keepFleetSecrets(dataDirectory);
  const natsAuthorization = renderNatsAuthorization(
    secrets.broker,
    await readPublishers(environment[publishersVariable]),
  );
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const serversUp = bringUpServers({ dataDirectory, report, signal, environment, natsAuthorization });
  const sandboxUp = ensureSandbox({ report, signal, environment });
  const askSandbox = async (script: string): Promise<string> => {
    const { docker, image } = await sandboxUp;
    return (await runConfined(docker, { image, script, mounts: [] })).output;
  };
  const work = [
    serversUp,
    sandboxUp,
    readHostRegistries(environment, askSandbox),
    buildServices({ report, signal }),
  ] as const;
  try {
    const [servers, sandbox, registries] = await Promise.all(work);
    return await startServices(options, { secrets, servers, sandbox, registries });
  } catch (error) {
    failed.abort(error);
    await Promise.allSettled(work);
    await (await serversUp.catch(() => undefined))?.stop();
    throw error;
  }
}

async function ensureSandbox(
  options: Pick<FleetOptions, 'report' | 'signal' | 'environment'>,
): Promise<SandboxFacts & { readonly docker: Dockerode }> {
  const { docker, at } = await ensureDockerEngine(options);
  const given = options.environment['FLOTILLA_SANDBOX_IMAGE'];
  if (given) return { image: given, dockerHost: at, docker };
  const { image } = await ensureSandboxImage({ ...options, docker });
  return { image, dockerHost: at, docker };
}

async function startServices(options: FleetOptions, facts: FleetFacts): Promise<Fleet> {
  const { dataDirectory, report } = options;
  const logsDirectory = join(dataDirectory, 'logs');
  await mkdir(logsDirectory, { recursive: true, mode: 0o700 });
  const tokenFile = join(dataDirectory, 'token');
  await writePrivately(tokenFile, `${facts.secrets.token}\n`);
  const describe = () => describeServices(options, facts);
  const services = await describe();
  const { installation } = services;
  const slots = { dataDirectory, installation, dockerHost: facts.sandbox.dockerHost, report };
  await takeOverSlots(slots);
  const brokerUrlFile = join(dataDirectory, 'broker-url');
  await writePrivately(brokerUrlFile, `${services.brokerUrlOf('local')}\n`);
  const { supervised, url } = await superviseOnFreePort(options, services, describe).catch(async (error: unknown) => {
    await clearSlots(slots);
    throw error;
  });
  await reapUnused(options, url, facts.secrets.token);
  const stop = async (): Promise<void> => {
    await supervised.stop();
    await clearSlots(slots);
    await facts.servers.stop();
  };
  return {
    url,
    token: facts.secrets.token,
    tokenFile,
    dataDirectory,
    logsDirectory,
    brokerUrl: services.brokerUrlOf('local'),
    brokerUrlFile,
    sandboxImage: facts.sandbox.image,
    databaseUrl: facts.servers.postgres.url,
    services: supervised,
    stop,
  };
}

/** What it cannot find out now the next start does. */
async function reapUnused({ dataDirectory, report, signal }: FleetOptions, url: string, token: string): Promise<void> {
  const api = createApiClient({ url, token }, signal);
  try {
    const reaped = await reapCredentials(join(dataDirectory, 'credentials'), async () => {
      const used = new Set<string>();
      for (let after: string | undefined; ;) {
        const { projects, next } = await api.call(ListProjects, after === undefined ? {} : { after });
        for (const { credential } of projects) if (credential !== undefined) used.add(credential);
        if (next === undefined) return used;
        after = next;
      }
    });
    for (const name of reaped) report.say('data', `the credential ${name} is gone: its project was never added`);
  } catch (error) {
    report.warn('data', `credentials without a project were not looked for: ${String(error)}`);
  } finally {
    await api.close();
  }
}
