import { isAbsolute } from 'node:path';
import { findCommand } from '../find-command.ts';
import { runCommand } from '../run-command.ts';

export interface HostRegistries {
  readonly npm: string | undefined;
  readonly pip: string | undefined;
  /** Where the index sends pip for the files, where it is known to be elsewhere: a host name. */
  readonly pipFilesHost?: string | undefined;
  /** PEM file with the certificates that npm trusts here, where it is told of one. */
  readonly certificatesFile: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The package registries that this machine's own npm and pip go to, and whom npm trusts, for setup in sandboxes. `askSandbox` runs a
 * script in the sandbox image, and is asked where this machine has no pip that says where it goes.
 */
export async function readHostRegistries(
  environment: Environment,
  askSandbox: (script: string) => Promise<string>,
): Promise<HostRegistries> {
  const [npm, pip, authority] = await Promise.all([
    ask('npm', ['config', 'get', 'registry'], isUrl, environment),
    readPip(environment, askSandbox),
    ask('npm', ['config', 'get', 'cafile'], isAbsolute, environment),
  ]);
  const extra = environment['NODE_EXTRA_CA_CERTS'];
  return { npm, ...pip, certificatesFile: authority ?? (extra === '' ? undefined : extra) };
}

async function readPip(
  environment: Environment,
  askSandbox: (script: string) => Promise<string>,
): Promise<Pick<HostRegistries, 'pip' | 'pipFilesHost'>> {
  const given = environment['PIP_INDEX_URL'] ?? '';
  const pip = isUrl(given) ? given : await ask('pip3', ['config', 'get', 'global.index-url'], isUrl, environment);
  if (pip !== undefined) return { pip };
  const own = await ask('python3', ['-c', pipDefaults], isDefaults, environment);
  const said = own ?? (await askSandbox(`python3 -c '${pipDefaults}'`).catch(() => ''));
  if (!isDefaults(said)) return { pip: undefined };
  const [index, pipFilesHost] = said.trim().split(/\s+/);
  return { pip: index, pipFilesHost };
}

/** Prints the index that an unconfigured pip uses, and the host of the index's files. Holds no single quote. */
const pipDefaults =
  'from pip._internal.models.index import PyPI as index; print(index.simple_url, index.file_storage_domain)';

function isDefaults(text: string): boolean {
  return /^https?:\/\/\S+\s+[a-z0-9.-]+$/i.test(text.trim());
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

async function ask(
  command: string,
  args: readonly string[],
  isAnswer: (text: string) => boolean,
  environment: Environment,
): Promise<string | undefined> {
  const path = await findCommand(command, environment);
  if (path === undefined) return undefined;
  const { code, stdout } = await runCommand(path, args, { environment });
  const answer = stdout.trim();
  return code === 0 && isAnswer(answer) ? answer : undefined;
}
