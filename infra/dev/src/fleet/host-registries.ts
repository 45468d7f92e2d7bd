import { isAbsolute } from 'node:path';
import { findCommand } from '../find-command.ts';
import { runCommand } from '../run-command.ts';

export interface HostRegistries {
  readonly npm: string | undefined;
  readonly pip: string | undefined;
  /** PEM file with the certificates that npm trusts here, where it is told of one. */
  readonly certificatesFile: string | undefined;
}

/** The package registries that this machine's own npm and pip are configured with, and whom npm trusts, for setup in sandboxes. */
export async function readHostRegistries(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<HostRegistries> {
  const [npm, pip, authority] = await Promise.all([
    ask('npm', ['config', 'get', 'registry'], isUrl, environment),
    ask('pip3', ['config', 'get', 'global.index-url'], isUrl, environment),
    ask('npm', ['config', 'get', 'cafile'], isAbsolute, environment),
  ]);
  const extra = environment['NODE_EXTRA_CA_CERTS'];
  return { npm, pip, certificatesFile: authority ?? (extra === '' ? undefined : extra) };
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

async function ask(
  command: string,
  args: readonly string[],
  isAnswer: (text: string) => boolean,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if ((await findCommand(command, environment)) === undefined) return undefined;
  const { code, stdout } = await runCommand(command, args, { environment });
  const answer = stdout.trim();
  return code === 0 && isAnswer(answer) ? answer : undefined;
}
