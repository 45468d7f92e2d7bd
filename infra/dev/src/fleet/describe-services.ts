import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { roles } from '@flotilla/contracts/define-call';
import type { SettingDefinition } from '@flotilla/contracts/define-setting';
import { settings as definitions } from '@flotilla/contracts/settings';
import { serviceNames, type ServiceName } from '@flotilla/contracts/services';
import { endWithParent } from '../end-with-parent.ts';
import { repositoryDirectory } from '../repository.ts';
import type { Servers } from '../servers.ts';
import { takePort } from '../servers/free-port.ts';
import { writePrivately, type FleetSecrets } from './fleet-secrets.ts';
import type { HostRegistries } from './host-registries.ts';
import type { FleetOptions } from './fleet-options.ts';
import type { SupervisedService } from './supervise.ts';

export interface SandboxFacts {
  readonly image: string;
  readonly dockerHost: string;
}

export interface FleetFacts {
  readonly secrets: FleetSecrets;
  readonly servers: Servers;
  readonly sandbox: SandboxFacts;
  readonly registries: HostRegistries;
}

export interface DescribedServices {
  readonly url: string;
  readonly list: readonly SupervisedService[];
  /** The name that the services' sandboxes carry. */
  readonly installation: string;
  brokerUrlOf(principal: ServiceName | 'local'): string;
}

/** What each process of the fleet is started with. A service gets its own settings and nothing else of the environment but PATH and HOME. */
export async function describeServices(options: FleetOptions, facts: FleetFacts): Promise<DescribedServices> {
  const { dataDirectory } = options;
  const httpPort = await chooseHttpPort(options);
  const tokensFile = join(dataDirectory, 'tokens.json');
  await writePrivately(tokensFile, JSON.stringify([{ token: facts.secrets.token, principal: 'local', roles }]));
  const brokerUrlOf = (principal: ServiceName | 'local'): string =>
    withUser(facts.servers.nats, principal, facts.secrets.broker[principal]);
  const shared = {
    FLOTILLA_INSTALLATION: facts.secrets.installation,
    ...registrySettings(facts.registries),
    ...inherited(options.environment),
    ...doorSettings(options.environment, facts.registries),
    ...sharedSettings(options, facts),
    FLOTILLA_TOKENS_FILE: tokensFile,
    FLOTILLA_HTTP_PORT: String(httpPort),
    ...options.settings,
  };
  const wrap = await endWithParent(options.environment);

  const describe = async (
    name: ServiceName | 'all-in-one',
    own: Readonly<Record<string, string>>,
  ): Promise<SupervisedService> => {
    const healthPort = await takePort(join(dataDirectory, `${name}.port`));
    return {
      name,
      command: wrap(process.execPath, join(repositoryDirectory, `services/${name}/dist/main.js`)),
      environment: { ...settingsFor(name, shared), ...own, FLOTILLA_HEALTH_PORT: String(healthPort) },
      logFile: join(dataDirectory, 'logs', `${name}.log`),
      readyUrl: `http://127.0.0.1:${healthPort}/ready`,
      ...(options.onLogLine === undefined ? {} : { onLine: options.onLogLine }),
    };
  };
  const list =
    options.allInOne === true
      ? [
          await describe(
            'all-in-one',
            Object.fromEntries(serviceNames.map((name) => [`NATS_URL_${name.toUpperCase()}`, brokerUrlOf(name)])),
          ),
        ]
      : await Promise.all(serviceNames.map((name) => describe(name, { NATS_URL: brokerUrlOf(name) })));
  return {
    url: `http://127.0.0.1:${httpPort}`,
    list,
    installation: shared.FLOTILLA_INSTALLATION,
    brokerUrlOf,
  };
}

/** The port that is asked for; a free one for 0; without a wish that of the last run or the default where it is free. */
async function chooseHttpPort({ httpPort, dataDirectory }: FleetOptions): Promise<number> {
  if (httpPort !== undefined && httpPort !== 0) return httpPort;
  const path = httpPortFile(dataDirectory);
  if (httpPort === undefined) {
    await writeFile(path, String(definitions.httpPort.schema.parse(undefined)), { flag: 'wx' }).catch(() => undefined);
  }
  return takePort(path);
}

/** The next port is a free one, and neither that of the last run nor the default. */
export function forgetHttpPort(dataDirectory: string): Promise<void> {
  return writeFile(httpPortFile(dataDirectory), '0');
}

function httpPortFile(dataDirectory: string): string {
  return join(dataDirectory, 'http.port');
}

function sharedSettings(
  { dataDirectory }: FleetOptions,
  { servers, sandbox }: FleetFacts,
): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: servers.postgres.url,
    REDIS_URL: servers.redis.url,
    DOCKER_HOST: sandbox.dockerHost,
    FLOTILLA_DATA_DIRECTORY: dataDirectory,
    FLOTILLA_SANDBOX_IMAGE: sandbox.image,
  };
}

/** What the machine's own package managers are configured with; a setting of the operator counts before it. */
function registrySettings({ npm, pip, certificatesFile }: HostRegistries): Readonly<Record<string, string>> {
  return {
    ...(npm === undefined ? {} : { FLOTILLA_NPM_REGISTRY: npm }),
    ...(pip === undefined ? {} : { FLOTILLA_PIP_INDEX: pip }),
    ...(certificatesFile === undefined ? {} : { FLOTILLA_CERTIFICATES_FILE: certificatesFile }),
  };
}

/** The host of the files of the machine's own index, besides what the operator listed; of an index of theirs they know the rest. */
function doorSettings(
  environment: Readonly<Record<string, string | undefined>>,
  { pipFilesHost }: HostRegistries,
): Readonly<Record<string, string>> {
  if (pipFilesHost === undefined || environment[definitions.pipIndex.variable]) return {};
  const listed = environment[definitions.doorHosts.variable];
  return { [definitions.doorHosts.variable]: listed ? `${listed},${pipFilesHost}` : pipFilesHost };
}

/** What a service takes over from the environment: how to run, and the settings an operator set there. */
function inherited(environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const names = [
    'PATH',
    'HOME',
    'TMPDIR',
    'TZ',
    'LANG',
    'NODE_EXTRA_CA_CERTS',
    ...Object.values(definitions).map(({ variable }) => variable),
  ];
  return Object.fromEntries(
    // An empty variable counts as not set.
    names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  );
}

/** The broker of the environment has users of its own: its URL is used as it is. */
function withUser(nats: Servers['nats'], user: string, password: string): string {
  if (nats.how === 'environment') return nats.url;
  const url = new URL(nats.url);
  return `nats://${user}:${password}@${url.host}`;
}

/** Leaves out what other services alone are given: keys of the model, passwords, tokens. */
function settingsFor(
  name: ServiceName | 'all-in-one',
  shared: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (name === 'all-in-one') return shared;
  const others = Object.values<SettingDefinition>(definitions)
    .filter(({ usedBy }) => usedBy !== undefined && !usedBy.includes(name))
    .map(({ variable }) => variable);
  return Object.fromEntries(Object.entries(shared).filter(([variable]) => !others.includes(variable)));
}
