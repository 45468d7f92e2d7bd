import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { withMachineLock } from '../machine/machine-lock.ts';
import { lastWords, runCommand } from '../run-command.ts';
import type { RunProgram } from './run-program.ts';

/** Who Postgres runs as. It refuses to run as root. */
export interface PostgresIdentity {
  /** `undefined`: as whoever we are. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  /** setpriv's options for that. */
  readonly privileges: readonly string[];
  /** A command line that runs what follows it with that identity. */
  readonly prefix: readonly string[];
}

const ourselves: PostgresIdentity = { user: undefined, privileges: [], prefix: [] };

/**
 * As root the user `postgres`, or one named `flotilla` made now. Where that user cannot reach the clone, as below a
 * home that only root may enter, it gets the one capability that lets it look and pass through directories.
 */
export async function choosePostgresIdentity(
  options: RunProgram & { readonly directory: string },
): Promise<PostgresIdentity> {
  if (process.getuid?.() !== 0) return ourselves;
  const user = (await findUser('postgres')) ?? (await findUser('flotilla')) ?? (await createUser(options));
  await mkdir(dirname(options.directory), { recursive: true, mode: 0o700 });
  const plain = [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const passing = [...plain, '--inh-caps=-all,+dac_read_search', '--ambient-caps=-all,+dac_read_search'];
  for (const privileges of [plain, passing]) {
    const prefix = ['setpriv', ...privileges, '--'];
    if (await canReach(prefix, [dirname(options.directory), join(options.program.directory, 'postgres')]))
      return { user, privileges, prefix };
  }
  throw new FlotillaError(errors.serverNotStarted, {
    server: 'postgres',
    reason: `its user (id ${user.uid}) can reach ${dirname(options.directory)} or ${options.program.directory} neither by itself nor with CAP_DAC_READ_SEARCH`,
    log: options.dataDirectory,
  });
}

async function canReach([command = '', ...prefix]: readonly string[], paths: readonly string[]): Promise<boolean> {
  const tests = paths.map((path) => `test -x '${path.replaceAll("'", String.raw`'\''`)}'`).join(' && ');
  return (await runCommand(command, [...prefix, 'sh', '-c', tests])).code === 0;
}

async function findUser(name: string): Promise<PostgresIdentity['user']> {
  const { code, stdout } = await runCommand('getent', ['passwd', name]);
  const [, , uid, gid] = stdout.split(':');
  return code === 0 ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

async function createUser({ report, signal }: RunProgram): Promise<{ readonly uid: number; readonly gid: number }> {
  return withMachineLock({ name: 'user', purpose: 'adding the user flotilla', report, signal }, async () => {
    const result = await runCommand('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      'flotilla',
    ]);
    const user = await findUser('flotilla');
    if (user === undefined)
      throw new FlotillaError(errors.serverNotStarted, {
        server: 'postgres',
        reason: `useradd: ${lastWords(result)}`,
        log: '/etc/passwd',
      });
    report.say('postgres', 'added the user flotilla to this machine, since Postgres does not run as root; it stays');
    return user;
  });
}
