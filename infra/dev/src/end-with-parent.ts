import { findCommand } from './find-command.ts';

type Wrap = (program: string, ...args: readonly string[]) => readonly [string, ...string[]];

/** Makes a command that the kernel ends when this process ends, however it does, where there is setpriv. */
export async function endWithParent(environment: Readonly<Record<string, string | undefined>>): Promise<Wrap> {
  const setpriv = await findCommand('setpriv', environment);
  if (setpriv === undefined) return (program, ...args) => [program, ...args];
  return (program, ...args) => [setpriv, '--pdeathsig', 'TERM', '--', program, ...args];
}
