import type { GrantLimits, Mode } from '@flotilla/contracts/grants';
import { decideByClasses, type CommandClass } from './command/command-class.ts';
import { allow, ask, refuse } from './decisions.ts';
import type { PolicyDecision } from './tool-call.ts';

export interface CommandFacts {
  readonly tool: string;
  /** The classes of all its parts; never none. */
  readonly classes: readonly CommandClass[];
  readonly irreversible: boolean;
  /** Its worst part, in words. */
  readonly reason: string | undefined;
  readonly mode: Mode;
  readonly network: boolean;
}

const forbidden: readonly CommandClass[] = ['DESTRUCTIVE', 'PRIVILEGED'];
const harmless: readonly CommandClass[] = ['READ_ONLY', 'TEST'];

/**
 * What the classes of a command come to. Some are refused in every mode and by every grant. `normal` asks before anything that
 * changes something; `auto` runs it, but never what cannot be taken back or followed; `plan` runs nothing, except that a grant which
 * lists classes may have READ_ONLY and TEST asked for.
 */
export function decideCommand(facts: CommandFacts, limits: GrantLimits): PolicyDecision {
  return refuseCommand(facts, limits) ?? permitCommand(facts);
}

function refuseCommand(facts: CommandFacts, limits: GrantLimits): PolicyDecision | undefined {
  const { classes, mode, network, reason, tool } = facts;
  const has = (among: readonly CommandClass[]) => classes.find((each) => among.includes(each));
  const because = reason === undefined ? '' : ` (${reason})`;
  const worst = has(forbidden);
  if (worst !== undefined) return refuse('COMMAND_REFUSED', `a ${worst} command is never run${because}`);
  if (limits.network === false && has(['NETWORK', 'REMOTE_MUTATION']) !== undefined)
    return refuse('NO_NETWORK', `${tool} is granted without the network${because}`);
  if (!network && has(['NETWORK']) !== undefined)
    return refuse('NO_NETWORK', `the command wants the network and this step has none${because}`);
  const unlisted = classes.find((each) => limits.classes?.includes(each) === false);
  if (unlisted !== undefined)
    return refuse('COMMAND_OUTSIDE_GRANT', `${tool} is not granted for ${unlisted} commands${because}`);
  if (mode === 'plan' && (limits.classes === undefined || classes.some((each) => !harmless.includes(each))))
    return refuse('MODE_READS_ONLY', `${tool} runs commands and this run only reads`);
  return undefined;
}

function permitCommand({ classes, irreversible, mode, network, reason, tool }: CommandFacts): PolicyDecision {
  const because = reason === undefined ? '' : `: ${reason}`;
  if (irreversible) return ask(`the command may do what cannot be taken back${because}`);
  switch (mode) {
    case 'plan':
      return ask(`${tool} runs a command, and a run that only reads asks before that${because}`);
    case 'normal':
      return decideByClasses(classes, network) === 'allow'
        ? allow(`the command is ${classes.join(', ')}`)
        : ask(`the command changes something, and a run in normal mode asks before that${because}`);
    case 'auto':
      return allow(`the command is ${classes.join(', ')}`);
  }
}
