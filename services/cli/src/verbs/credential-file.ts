import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Session } from '../session.ts';
import type { RemoteAddress } from './remote-address.ts';

export interface SecretSource {
  readonly tokenFile?: string | undefined;
  readonly tokenEnv?: string | undefined;
  readonly sshKey?: string | undefined;
}

export interface WrittenCredential {
  readonly name: string;
  /** True where another one was there before. */
  readonly replaces: boolean;
  /** Says that its project is there. */
  readonly keep: () => Promise<void>;
  /** Puts back what was there before. */
  readonly undo: () => Promise<void>;
}

/** A file beside a new credential says by this ending, and with the id of the process, that its project may not be there yet. */
export const addingMark = '.adding';

/**
 * Writes the secret of a remote into the data directory of the fleet of this machine, mode 0600; undefined where no secret
 * was given. The fleet's HTTP never sees it. Throws CREDENTIAL_NOT_LOCAL or CREDENTIAL_UNUSABLE.
 */
export async function writeCredential(
  name: string,
  address: RemoteAddress,
  source: SecretSource,
  session: Session,
): Promise<WrittenCredential | undefined> {
  const given = [source.tokenFile, source.tokenEnv, source.sshKey].filter((each) => each !== undefined);
  if (given.length === 0) return undefined;
  if (given.length > 1) throw unusable('more than one secret is given');
  const credential = await readSecret(address, source, session);
  const { url, local } = await session.fleet();
  if (local === undefined) throw new FlotillaError(errors.credentialNotLocal, { url, name, file: `${name}.json` });
  const path = credentialPath(local.dataDirectory, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const before = await readFile(path, 'utf8').catch(() => undefined);
  const keep = () => rm(`${path}${addingMark}`, { force: true });
  if (before === undefined) await writePrivate(`${path}${addingMark}`, `${process.pid}\n`);
  await writePrivate(path, `${JSON.stringify(credential, undefined, 2)}\n`);
  return {
    name,
    replaces: before !== undefined,
    keep,
    undo: async () => {
      if (before !== undefined) return writePrivate(path, before);
      await rm(path, { force: true });
      await keep();
    },
  };
}

/** Removes what `writeCredential` wrote and gives its path; undefined where the fleet is not of this machine or has no such file. */
export async function removeCredential(name: string, session: Session): Promise<string | undefined> {
  const { local } = await session.fleet();
  if (local === undefined) return undefined;
  const path = credentialPath(local.dataDirectory, name);
  const there = await stat(path).catch(() => undefined);
  if (there === undefined) return undefined;
  await rm(path, { force: true });
  return path;
}

function credentialPath(dataDirectory: string, name: string): string {
  return join(dataDirectory, 'credentials', `${name}.json`);
}

async function readSecret({ host, kind }: RemoteAddress, source: SecretSource, session: Session) {
  if (host === undefined) throw unusable('a remote that is a path needs none');
  if (source.sshKey !== undefined) {
    if (kind !== 'ssh') throw unusable('a key is for a remote over ssh');
    return { kind: 'ssh', host, keyFile: await requirePrivateFile(resolve(session.workingDirectory, source.sshKey)) };
  }
  if (kind !== 'http') throw unusable('a token is for a remote over https');
  return { kind: 'token', host, token: await readToken(source, session) };
}

async function readToken({ tokenFile, tokenEnv }: SecretSource, session: Session): Promise<string> {
  const text =
    tokenFile === undefined
      ? session.environment[tokenEnv ?? '']
      : await readFile(resolve(session.workingDirectory, tokenFile), 'utf8').catch((cause: unknown) => {
          throw unusable(`${tokenFile} cannot be read`, cause);
        });
  const token = text?.trim() ?? '';
  if (token === '')
    throw unusable(tokenFile === undefined ? `the variable ${tokenEnv ?? ''} is empty` : `${tokenFile} is empty`);
  if (/\s/.test(token)) throw unusable('a token has no blanks');
  return token;
}

async function requirePrivateFile(path: string): Promise<string> {
  const facts = await stat(path).catch((cause: unknown) => {
    throw unusable(`${path} cannot be read`, cause);
  });
  if (!facts.isFile()) throw unusable(`${path} is not a file`);
  if ((facts.mode & 0o077) !== 0) throw unusable(`${path} can be read by others: chmod 600 it`);
  return path;
}

/** Never readable by others, not even while it is written. */
async function writePrivate(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

function unusable(reason: string, cause?: unknown): FlotillaError {
  return new FlotillaError(errors.credentialUnusable, { reason }, { cause });
}
