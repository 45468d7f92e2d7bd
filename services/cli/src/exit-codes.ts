import type { FlotillaError } from '@flotilla/errors/flotilla-error';

/** How the command line ends. */
export const exitCodes = {
  done: { code: 0, summary: 'done; a watched run landed or had nothing to change' },
  failed: { code: 1, summary: 'it failed, or the watched run ended in another way' },
  usage: { code: 2, summary: 'the command or the request is not valid' },
  notFound: { code: 3, summary: 'there is no such run, gate, project or letter' },
  refused: { code: 4, summary: 'refused: the token may not, or the state is another (a conflict)' },
  unreachable: { code: 5, summary: 'no fleet answers' },
  atGate: { code: 6, summary: 'with --until-gate: the run waits at a gate for a decision' },
  interrupted: { code: 130, summary: 'ended by Ctrl-C; a run under way goes on' },
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]['code'];

/** The exit code that an error of the catalogue stands for, by its status. */
export function exitCodeOf({ status }: Pick<FlotillaError, 'status'>): ExitCode {
  if (status === 404) return exitCodes.notFound.code;
  if (status === 401 || status === 403 || status === 409) return exitCodes.refused.code;
  if (status >= 502) return exitCodes.unreachable.code;
  if (status >= 500) return exitCodes.failed.code;
  return exitCodes.usage.code;
}
