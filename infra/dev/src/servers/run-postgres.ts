import { chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { lastWords, runCommand } from '../run-command.ts';
import { startOwnProcess } from './own-process.ts';
import { choosePostgresIdentity } from './postgres-identity.ts';
import type { PostgresIdentity } from './postgres-identity.ts';
import { probeServer } from './probe.ts';
import { startOnFreePort } from './run-program.ts';
import type { RunProgram, StartedServer } from './run-program.ts';
import { urlOf } from './url-of.ts';

/** Runs Postgres as a child, on a cluster of its own with user and database `flotilla`; as root, as an ordinary user. */
export async function runPostgres(program: RunProgram): Promise<StartedServer> {
  const { dataDirectory, passwords } = program;
  const directory = join(dataDirectory, 'postgres');
  const identity = await choosePostgresIdentity({ ...program, directory });
  if ((await readDataVersion(dataDirectory)) === undefined) await createCluster(program, directory, identity);
  else await adopt(directory, identity);

  return startOnFreePort('postgres', program, async (port, shared) => {
    const url = urlOf('postgres', passwords, port);
    const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: '200' };
    const started = await startOwnProcess({
      ...shared,
      directory,
      command: [
        join(program.program.directory, 'postgres'),
        ...['-D', directory, '-p', String(port)],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      privileges: identity.privileges,
      // Postgres' fast shutdown: connections are dropped and everything is written.
      endSignal: 'SIGINT',
      probe: () => probeServer('postgres', url),
    });
    return { url, ...started };
  });
}

/** The major version that wrote the cluster of an earlier run, "15". */
export async function readDataVersion(dataDirectory: string): Promise<string | undefined> {
  const text = await readFile(join(dataDirectory, 'postgres', 'PG_VERSION'), 'utf8').catch(() => undefined);
  return text?.trim();
}

/** Made beside its place and renamed into it, so that a half-made cluster is never taken for one. */
async function createCluster(
  { program, dataDirectory, passwords, signal }: RunProgram,
  directory: string,
  identity: PostgresIdentity,
): Promise<void> {
  const draft = join(dataDirectory, 'postgres.new');
  const passwordPath = join(dataDirectory, 'postgres.password');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordPath, passwords.postgres, { mode: 0o600 });
  try {
    if (identity.user !== undefined)
      for (const path of [draft, passwordPath]) await chown(path, identity.user.uid, identity.user.gid);
    const locale = process.platform === 'linux' ? 'C.UTF-8' : 'C';
    const authentication = ['--username=flotilla', '--auth=scram-sha-256', `--pwfile=${passwordPath}`];
    await run(['initdb', '-D', draft, '--encoding=UTF8', `--locale=${locale}`, '--no-sync', ...authentication]);
    await run(['postgres', '--single', '-D', draft, 'postgres'], 'CREATE DATABASE flotilla\n');
  } finally {
    await rm(passwordPath, { force: true });
  }
  await rename(draft, directory);

  async function run([name = '', ...args]: readonly string[], input?: string): Promise<void> {
    const [command = '', ...rest] = [...identity.prefix, join(program.directory, name), ...args];
    const result = await runCommand(command, rest, {
      directory: draft,
      ...(signal && { signal }),
      ...(input !== undefined && { input }),
    });
    if (result.code !== 0)
      throw new FlotillaError(errors.serverNotStarted, {
        server: 'postgres',
        reason: `${name}: ${lastWords(result)}`,
        log: draft,
      });
  }
}

/** Gives the cluster to the user that runs it now, which may be another one than before. */
async function adopt(directory: string, { user }: PostgresIdentity): Promise<void> {
  if (user === undefined || (await stat(directory)).uid === user.uid) return;
  await runCommand('chown', ['-R', `${user.uid}:${user.gid}`, directory]);
}
