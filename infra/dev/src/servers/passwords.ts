import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { ServerName } from './source.ts';

export type Passwords = Readonly<Record<ServerName, string>>;

const fileName = 'servers.json';

/** The passwords of this clone's own servers: made on the first call, kept in `servers.json` with mode 0600. One caller at a time. */
export async function keepPasswords(dataDirectory: string): Promise<Passwords> {
  const path = join(dataDirectory, fileName);
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  // Written below and by nobody else.
  if (kept !== undefined) return JSON.parse(kept) as Passwords;
  const passwords = { nats: makePassword(), redis: makePassword(), postgres: makePassword() };
  await writeFile(`${path}.new`, `${JSON.stringify(passwords)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return passwords;
}

/** For a server whose data, in `directory`, was made with another password than the one that is kept. */
export function passwordForeign(server: string, directory: string): FlotillaError {
  return new FlotillaError(errors.serverPasswordForeign, {
    server,
    directory,
    file: join(dirname(directory), fileName),
  });
}

/**
 * 24 random bytes, in letters that need no escaping in a URL or a configuration file. A letter comes first: the NATS client
 * takes digits after a colon for the port.
 */
function makePassword(): string {
  return `p${randomBytes(24).toString('hex')}`;
}
