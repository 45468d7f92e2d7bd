export type ServerName = 'nats' | 'redis' | 'postgres';

/** Executables of one server found on this machine. */
export interface Program {
  /** Directory that holds them. */
  readonly directory: string;
  /** "2.9.10", "15.18" */
  readonly version: string;
}

export type ComposeFact =
  | { readonly kind: 'usable'; readonly command: readonly [string, ...string[]] }
  | { readonly kind: 'unusable'; readonly reason: string };

/** What is known of one server before it is decided where it comes from. */
export interface ServerFacts {
  readonly server: ServerName;
  /** The URL in the environment. */
  readonly url: string | undefined;
  /** Found on PATH or in Debian's places, in order of preference. */
  readonly programs: readonly Program[];
  /** From an npm package; Postgres alone has one. */
  readonly embedded: Program | undefined;
  /** The major version that wrote the data kept from an earlier run; Postgres reads no other's. */
  readonly dataVersion: string | undefined;
  /** Costs up to five seconds to find out: `undefined` until it is asked for. */
  readonly compose: ComposeFact | undefined;
  /** Root with apt. */
  readonly canInstall: boolean;
}

export type ServerSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'program'; readonly program: Program }
  | { readonly kind: 'embedded'; readonly program: Program }
  | { readonly kind: 'compose'; readonly command: readonly [string, ...string[]] }
  | { readonly kind: 'apt'; readonly package: string }
  /** Undecided before `compose` is known. */
  | { readonly kind: 'look_at_compose' }
  | { readonly kind: 'unreadable_data'; readonly dataVersion: string; readonly found: readonly string[] }
  | { readonly kind: 'missing'; readonly reasons: readonly string[] };

const debianPackages: Readonly<Record<ServerName, string>> = {
  nats: 'nats-server',
  redis: 'redis-server',
  postgres: 'postgresql',
};

export const urlVariables: Readonly<Record<ServerName, string>> = {
  nats: 'NATS_URL',
  redis: 'REDIS_URL',
  postgres: 'DATABASE_URL',
};

/** The oldest versions that the fleet works with. */
export const oldestVersions: Readonly<Record<ServerName, string>> = {
  nats: '2.9.10',
  redis: '5.0.0',
  postgres: '13.0',
};

/** Where a server comes from: environment, programs, npm, compose, apt, in this order; the first that is there. */
export function chooseSource(facts: ServerFacts): ServerSource {
  if (facts.url !== undefined && facts.url !== '') return { kind: 'url', url: facts.url };
  const recent = (program: Program): boolean => isAtLeast(program.version, oldestVersions[facts.server]);
  const readable = ({ version }: Program): boolean =>
    facts.dataVersion === undefined || version.split('.')[0] === facts.dataVersion;
  const program = facts.programs.find((each) => recent(each) && readable(each));
  if (program !== undefined) return { kind: 'program', program };
  if (facts.embedded !== undefined && readable(facts.embedded)) return { kind: 'embedded', program: facts.embedded };

  const found = [...facts.programs, ...(facts.embedded === undefined ? [] : [facts.embedded])].map(
    ({ version }) => version,
  );
  if (facts.dataVersion !== undefined && found.length > 0)
    return { kind: 'unreadable_data', dataVersion: facts.dataVersion, found };
  if (facts.compose === undefined) return { kind: 'look_at_compose' };
  if (facts.compose.kind === 'usable') return { kind: 'compose', command: facts.compose.command };
  // A version that is too old would only be installed again.
  if (facts.canInstall && facts.programs.length === 0) return { kind: 'apt', package: debianPackages[facts.server] };
  return { kind: 'missing', reasons: describeAbsence(facts, facts.compose.reason) };
}

function describeAbsence({ server, programs, canInstall }: ServerFacts, composeReason: string): string[] {
  const old = programs.map(
    ({ directory, version }) => `${directory} has ${version}, older than ${oldestVersions[server]}`,
  );
  return [
    `${urlVariables[server]} is not set`,
    ...(old.length > 0 ? old : ['no program on PATH']),
    `docker compose: ${composeReason}`,
    ...(canInstall ? [] : ['apt: this needs root and apt-get']),
  ];
}

/** Compares dotted numbers: whether `version` is `oldest` or newer. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [left, right] = [version, oldest].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)));
  for (const [index, wanted] of (right ?? []).entries()) {
    const given = left?.[index] ?? 0;
    if (given !== wanted) return given > wanted;
  }
  return true;
}
