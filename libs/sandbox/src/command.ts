import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { homePath, hostName, workspacePath } from './container-options.ts';

/** `shell` is one string for `/bin/bash -c`; nothing of it is interpreted outside the container. */
export type Command = { readonly argv: readonly string[] } | { readonly shell: string };

const limitBytes = 64 * 1024;
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The argv of a command. Throws COMMAND_REFUSED when it is empty, holds a NUL or is over 64 kB. */
export function commandArgv(command: Command): readonly string[] {
  const argv = 'shell' in command ? ['/bin/bash', '-c', command.shell] : command.argv;
  if (argv.length === 0 || argv[0] === '') throw refused('it is empty');
  if (argv.some((word) => word.includes('\0'))) throw refused('it holds a NUL character');
  if (argv.reduce((bytes, word) => bytes + Buffer.byteLength(word) + 1, 0) > limitBytes)
    throw refused('it is over 64 kB');
  return argv;
}

const reservedNames =
  /^(PATH|HOME|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|IFS|PS4|LD_.*|GCONV_PATH|USER|LOGNAME|SHELL)$/;

/**
 * The whole environment of a command: the fixed part and what the caller names, nothing of this process. Directories of
 * `path` are inside the workspace and go before the system's.
 */
export function commandEnvironment(
  extra: Readonly<Record<string, string>>,
  path: readonly string[],
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(extra)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw refused(`${JSON.stringify(name)} is not a variable name`);
    if (reservedNames.test(name)) throw refused(`the variable ${name} is not the caller's to set`);
    if (value.includes('\0')) throw refused(`the variable ${name} holds a NUL character`);
  }
  const directories = path.map((directory) => {
    if (/[:\0]/.test(directory) || directory.split('/').includes('..'))
      throw refused(`${JSON.stringify(directory)} is no directory of the workspace`);
    return `${workspacePath}/${directory}`;
  });
  return {
    HOSTNAME: hostName,
    LANG: 'C.UTF-8',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    ...extra,
    HOME: homePath,
    PATH: [...directories, systemPath].join(':'),
  };
}

/**
 * Runs around every command, as the sandbox user: empties the home directory, so that no call leaves its successor an
 * alias, a hook or a git configuration; runs the command; kills whatever the command left behind, so that its output ends
 * with it. A hostile command can kill this shell: slot.ts looks for survivors from outside and trusts only that.
 */
const wrapper = (stderr: 1 | 2) => `
cd "$HOME" 2>/dev/null && [ -r . ] && [ -w . ] || { chmod 700 "$HOME" && cd "$HOME" || exit 126; }
for entry in ..?* .[!.]* *; do
  if [ -e "$entry" ] || [ -L "$entry" ]; then
    find . -mindepth 1 -delete 2>/dev/null || { chmod -R u+rwX . && find . -mindepth 1 -delete; } || exit 126
    break
  fi
done
cd "$1" || exit 126
shift
{ "$@" 2>&3 3>&-; } 3>&${stderr} 2>/dev/null
code=$?
kill -9 -1
exit "$code"
`;

/** With `merged`, stdout and stderr are one stream: two streams reach us in whatever order the engine reads them. */
export function wrapCommand(argv: readonly string[], directory: string, merged: boolean): readonly string[] {
  return ['/bin/sh', '-c', wrapper(merged ? 1 : 2), 'flotilla', directory, ...argv];
}

/** Kills every process of the user it runs as. One call takes them all, even while they fork: the kernel sees to that. */
export const killEverything: readonly string[] = ['/bin/sh', '-c', 'kill -9 -1'];

function refused(reason: string): FlotillaError {
  return new FlotillaError(errors.commandRefused, { reason });
}
