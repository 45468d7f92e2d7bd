import { z } from 'zod';
import { defineSetting, type SettingDefinition } from './define-setting.ts';
import { Mode } from './grants.ts';

const text = z.string().trim().min(1);
const port = z.coerce.number().int().min(0).max(65_535);
const count = (least: number, most: number) => z.coerce.number().int().min(least).max(most);
const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  );
const flag = z
  .enum(['true', 'false', '1', '0'])
  .default('false')
  .transform((value) => value === 'true' || value === '1');
const url = (...schemes: readonly string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && schemes.includes(new URL(value).protocol),
      `a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    );

const agentServices = ['planner', 'executor', 'reviewer', 'scribe'] as const;

/** Everything an operator may set. Read once, when a service starts; whatever is wrong is named all at once. */
export const settings = {
  databaseUrl: defineSetting({
    variable: 'DATABASE_URL',
    summary: 'Postgres, 13 or newer.',
    schema: url('postgres:', 'postgresql:').optional(),
    requiredBy: 'all',
    secret: true,
    example: 'postgres://flotilla:secret@127.0.0.1:5432/flotilla',
  }),
  natsUrl: defineSetting({
    variable: 'NATS_URL',
    summary: 'nats-server with JetStream, 2.9.10 or newer, with the user of the service.',
    schema: url('nats:', 'tls:').optional(),
    requiredBy: 'all',
    secret: true,
    example: 'nats://router:secret@127.0.0.1:4222',
  }),
  redisUrl: defineSetting({
    variable: 'REDIS_URL',
    usedBy: ['merger'],
    summary: 'Redis, for the leases that keep landings apart.',
    schema: url('redis:', 'rediss:').optional(),
    requiredBy: ['merger'],
    secret: true,
    example: 'redis://:secret@127.0.0.1:6379',
  }),
  dockerHost: defineSetting({
    variable: 'DOCKER_HOST',
    summary: 'Where the Docker engine answers; default: its socket.',
    schema: text.optional(),
    example: 'unix:///var/run/docker.sock',
  }),
  dataDirectory: defineSetting({
    variable: 'FLOTILLA_DATA_DIRECTORY',
    summary:
      'Mirrors, workspaces, setups and credentials of this host; the same path for the services and for the Docker engine.',
    schema: text.refine((value) => value.startsWith('/'), 'an absolute path').optional(),
    requiredBy: ['planner', 'executor', 'reviewer', 'merger'],
    example: '/var/lib/flotilla',
  }),
  installation: defineSetting({
    variable: 'FLOTILLA_INSTALLATION',
    summary: "Name of this fleet; containers carry it as a label, and no other fleet's are touched.",
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,40}$/)
      .default('flotilla'),
  }),
  healthHost: defineSetting({
    variable: 'FLOTILLA_HEALTH_HOST',
    summary: 'Address that /health and /ready of a service are served on.',
    schema: text.default('127.0.0.1'),
  }),
  healthPort: defineSetting({
    variable: 'FLOTILLA_HEALTH_PORT',
    summary: 'Port of /health and /ready; 0 takes a free one.',
    schema: port.default(0),
  }),
  httpHost: defineSetting({
    variable: 'FLOTILLA_HTTP_HOST',
    summary: 'Address that the gateway listens on.',
    schema: text.default('127.0.0.1'),
  }),
  httpPort: defineSetting({
    variable: 'FLOTILLA_HTTP_PORT',
    summary: 'Port that the gateway listens on; 0 takes a free one.',
    schema: port.default(7420),
  }),
  allowedHosts: defineSetting({
    variable: 'FLOTILLA_ALLOWED_HOSTS',
    summary:
      'Host names the gateway answers to, separated by commas; default: those of the loopback, or any when it listens elsewhere.',
    schema: list,
  }),
  tokensFile: defineSetting({
    variable: 'FLOTILLA_TOKENS_FILE',
    usedBy: ['gateway'],
    summary: 'JSON file with the tokens of the gateway: a list of {token, principal, roles}, mode 0600.',
    schema: text.optional(),
    requiredBy: ['gateway'],
    example: '/etc/flotilla/tokens.json',
  }),
  publishersFile: defineSetting({
    variable: 'FLOTILLA_PUBLISHERS_FILE',
    usedBy: [],
    summary:
      'JSON file with outside publishers of the queue: a list of {name, password}, mode 0600. Read by `npm start` for the NATS that it brings up, and by no service.',
    schema: text.optional(),
    example: '/etc/flotilla/publishers.json',
  }),
  model: defineSetting({
    variable: 'FLOTILLA_MODEL',
    summary:
      'The language model: openai:NAME, anthropic:NAME, or compatible:NAME@URL for any endpoint that speaks the OpenAI protocol.',
    schema: text.optional(),
    example: 'compatible:qwen3-coder@http://127.0.0.1:11434/v1',
  }),
  modelUrl: defineSetting({
    variable: 'FLOTILLA_MODEL_URL',
    summary: 'Base URL of the model provider, where it is not part of FLOTILLA_MODEL.',
    schema: text.optional(),
    example: 'https://models.example.com/v1',
  }),
  modelKey: defineSetting({
    variable: 'FLOTILLA_MODEL_KEY',
    usedBy: agentServices,
    summary: 'Key of the model provider.',
    schema: text.optional(),
    secret: true,
  }),
  openaiKey: defineSetting({
    variable: 'OPENAI_API_KEY',
    usedBy: agentServices,
    summary: 'Key for openai models, where FLOTILLA_MODEL_KEY is not set.',
    schema: text.optional(),
    secret: true,
  }),
  anthropicKey: defineSetting({
    variable: 'ANTHROPIC_API_KEY',
    usedBy: agentServices,
    summary: 'Key for anthropic models, where FLOTILLA_MODEL_KEY is not set.',
    schema: text.optional(),
    secret: true,
  }),
  sandboxImage: defineSetting({
    variable: 'FLOTILLA_SANDBOX_IMAGE',
    summary: 'Image of the sandboxes.',
    schema: text.optional(),
    requiredBy: ['planner', 'executor', 'reviewer'],
    example: 'flotilla/sandbox:1',
  }),
  slots: defineSetting({
    variable: 'FLOTILLA_SLOTS',
    summary: 'Sandboxes a service uses at once.',
    schema: count(1, 256).default(2),
  }),
  slotsReady: defineSetting({
    variable: 'FLOTILLA_SLOTS_READY',
    summary: 'Sandboxes a service keeps started and unused.',
    schema: count(0, 64).default(1),
  }),
  slotMemoryMb: defineSetting({
    variable: 'FLOTILLA_SLOT_MEMORY_MB',
    summary: 'Memory of a sandbox in MiB.',
    schema: count(64, 1_048_576).default(2048),
  }),
  slotCpus: defineSetting({
    variable: 'FLOTILLA_SLOT_CPUS',
    summary: 'Processor cores of a sandbox.',
    schema: z.coerce.number().min(0.1).max(256).default(2),
  }),
  doorHosts: defineSetting({
    variable: 'FLOTILLA_DOOR_HOSTS',
    summary:
      'Host names, with a port where it is not 443, that setup may reach besides the package registries; separated by commas.',
    schema: list,
    example: 'git.example.com,nexus.example.com:8443',
  }),
  npmRegistry: defineSetting({
    variable: 'FLOTILLA_NPM_REGISTRY',
    summary:
      "Registry that npm in a sandbox uses during setup, and that the door lets through. `npm start` sets that of this machine's npm; without one npm reaches its own only where `FLOTILLA_DOOR_HOSTS` lists it.",
    schema: url('https:', 'http:').optional(),
    example: 'https://npm.example.com/',
  }),
  pipIndex: defineSetting({
    variable: 'FLOTILLA_PIP_INDEX',
    summary:
      "Index that pip in a sandbox uses during setup, and that the door lets through. `npm start` sets that of this machine's pip, or else pip's own with the host of its files; without one pip reaches its own only where `FLOTILLA_DOOR_HOSTS` lists both.",
    schema: url('https:', 'http:').optional(),
    example: 'https://pypi.example.com/simple',
  }),
  certificatesFile: defineSetting({
    variable: 'FLOTILLA_CERTIFICATES_FILE',
    summary:
      'PEM file with every certificate that npm and pip trust during setup; default: those of the sandbox image.',
    schema: text.optional(),
    example: '/etc/ssl/certs/ca-certificates.crt',
  }),
  gitCertificatesFile: defineSetting({
    variable: 'FLOTILLA_GIT_CERTIFICATES_FILE',
    summary: "PEM file with every certificate that git trusts for https remotes; default: those of the merger's host.",
    schema: text.optional(),
    example: '/etc/ssl/certs/git-authority.pem',
  }),
  privateRegistries: defineSetting({
    variable: 'FLOTILLA_PRIVATE_REGISTRIES',
    summary: 'True where the package registries above may have a private or loopback address.',
    schema: flag,
  }),
  runMode: defineSetting({
    variable: 'FLOTILLA_RUN_MODE',
    summary: 'Mode of runs for which neither task nor topology asks for a stricter one: auto, normal or plan.',
    schema: Mode.default('auto'),
  }),
  archiveAfterDays: defineSetting({
    variable: 'FLOTILLA_ARCHIVE_AFTER_DAYS',
    summary: 'Days after its end that a run is archived; 0 archives none by itself.',
    schema: count(0, 36_500).default(90),
  }),
  archiveDirectory: defineSetting({
    variable: 'FLOTILLA_ARCHIVE_DIRECTORY',
    summary: 'Where the router writes the files of archived runs; default: archive in FLOTILLA_DATA_DIRECTORY.',
    schema: text.refine((value) => value.startsWith('/'), 'an absolute path').optional(),
    example: '/srv/flotilla-archive',
  }),
  setupsKeptDays: defineSetting({
    variable: 'FLOTILLA_SETUPS_KEPT_DAYS',
    summary: 'Days after its last use that an installed setup is removed.',
    schema: count(1, 36_500).default(30),
  }),
  setupsLimitGb: defineSetting({
    variable: 'FLOTILLA_SETUPS_LIMIT_GB',
    summary: 'GiB that installed setups take together before the ones not used for longest are removed.',
    schema: z.coerce.number().min(0.001).max(1_048_576).default(50),
  }),
  logLevel: defineSetting({
    variable: 'FLOTILLA_LOG_LEVEL',
    summary: 'Least level that is logged.',
    schema: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  }),
  logFormat: defineSetting({
    variable: 'FLOTILLA_LOG_FORMAT',
    summary: 'pretty for a person, json for a machine; auto: pretty on a terminal.',
    schema: z.enum(['auto', 'pretty', 'json']).default('auto'),
  }),
  otlpEndpoint: defineSetting({
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    summary: 'Where traces and metrics are sent over OTLP/HTTP; absent: nowhere.',
    schema: url('http:', 'https:').optional(),
    example: 'http://127.0.0.1:4318',
  }),
} as const satisfies Readonly<Record<string, SettingDefinition>>;

export type Settings = { readonly [Name in keyof typeof settings]: z.output<(typeof settings)[Name]['schema']> };
