import { constants, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { Credential, isForHost, isPrivateMode } from '../domain/credential.ts';

/** The operator's secrets for remotes: one file a credential, readable by its owner alone. Nothing of them is logged. */
export class CredentialDirectory {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Reads a credential for use at `remoteHost` (undefined: a path). `name` is a project's checked credential name.
   * Throws credentialMissing, credentialExposed, credentialUnreadable or credentialForOtherHost.
   */
  async read(name: string, remoteHost: string | undefined): Promise<Credential> {
    const path = join(this.#directory, `${name}.json`);
    const text = await readPrivateFile(name, path);
    const credential = parseCredential(name, path, text);
    if (credential.kind === 'ssh') await readPrivateFile(name, credential.keyFile);
    if (!isForHost(credential, remoteHost)) {
      throw new FlotillaError(errors.credentialForOtherHost, {
        name,
        host: credential.host,
        remoteHost: remoteHost ?? 'a local path',
      });
    }
    return credential;
  }
}

/** Mode and content come from one open file, so that neither can be of another. */
async function readPrivateFile(name: string, path: string): Promise<string> {
  const file = await openFile(name, path);
  try {
    const { mode } = await file.stat();
    if (!isPrivateMode(mode)) {
      throw new FlotillaError(errors.credentialExposed, { path, mode: (mode & 0o777).toString(8) });
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function openFile(name: string, path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw new FlotillaError(errors.credentialMissing, { name, path }, { cause: error });
    }
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be opened';
    throw new FlotillaError(errors.credentialUnreadable, { name, path, reason }, { cause: error });
  }
}

/** What is wrong is told by field; a parser's words would quote the secret. */
function parseCredential(name: string, path: string, text: string): Credential {
  const parsed = Credential.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => issue.path.join('.')).filter((field) => field !== '');
  const reason =
    fields.length === 0 ? 'it is not a credential' : `wrong or missing: ${[...new Set(fields)].join(', ')}`;
  throw new FlotillaError(errors.credentialUnreadable, { name, path, reason });
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
