import { findCommand } from '../find-command.ts';
import { runCommand } from '../run-command.ts';

export interface HostRegistries {
  readonly npm: string | undefined;
  readonly pip: string | undefined;
}

/** The package registries that this machine's own npm and pip are configured with, for setup in sandboxes. */
export async function readHostRegistries(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<HostRegistries> {
  const [npm, pip] = await Promise.all([
    ask('npm', ['config', 'get', 'registry'], environment),
    ask('pip3', ['config', 'get', 'global.index-url'], environment),
  ]);
  return { npm, pip };
}

async function ask(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if ((await findCommand(command, environment)) === undefined) return undefined;
  const { code, stdout } = await runCommand(command, args, { environment });
  const answer = stdout.trim();
  return code === 0 && /^https?:\/\//.test(answer) ? answer : undefined;
}
