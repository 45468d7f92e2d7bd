import type { Grant, GrantLimits, Mode } from '@flotilla/contracts/grants';
import type { Capability } from './capabilities.ts';
import type { Classification } from './command/classify-command.ts';
import type { CommandClass } from './command/command-class.ts';
import { decideCommand, type CommandFacts } from './decide-command.ts';
import { decidePathInLimits, showPath } from './decide-path.ts';
import { allow, ask, refuse, strictest } from './decisions.ts';
import type { PolicyDecision, ToolCall } from './tool-call.ts';

export interface CallFacts {
  readonly call: ToolCall;
  readonly capability: Capability;
  readonly mutates: boolean;
  readonly mode: Mode;
  readonly network: boolean;
  readonly depth: number;
  readonly command?: Classification;
}

/** What one grant says of a call under a mode. Its paths are canonical. */
export function decideInGrant(facts: CallFacts, grant: Exclude<Grant, false>): PolicyDecision {
  const { call, depth } = facts;
  const limits = typeof grant === 'object' ? grant : {};
  if (limits.max_depth !== undefined && depth >= limits.max_depth)
    return refuse('TOO_DEEP', `${call.capability} is granted for ${limits.max_depth} levels of agents`);
  const marked = grant === 'ask' || limits.ask === true;
  return strictest([
    decideByMode(facts, limits),
    ...decideByPaths(facts, limits),
    ...(marked ? [ask(`${describeCall(call)} wants a person's yes for each call`)] : []),
  ]);
}

function decideByMode(facts: CallFacts, limits: GrantLimits): PolicyDecision {
  const { call, capability, mutates, mode, network, command } = facts;
  if (capability.runs !== 'nothing' || call.command !== undefined) {
    const classes = classesOf(facts);
    const readsOnly = refuse('MODE_READS_ONLY', `${call.tool} runs commands and this run only reads`);
    if (classes === undefined && mode === 'plan') return readsOnly;
    if (classes === undefined) return refuse('LIMIT_NOT_EVALUABLE', `${call.tool} names no command`);
    const run: CommandFacts = {
      tool: call.tool,
      classes,
      irreversible: command?.irreversible === true,
      reason: command?.reasons[0],
      mode,
      network,
    };
    return decideCommand(run, limits);
  }
  if (limits.classes !== undefined)
    return refuse('LIMIT_NOT_EVALUABLE', `${call.capability} is limited to commands and runs none`);
  if (!mutates) return allow(`${call.capability} is granted`);
  switch (mode) {
    case 'plan':
      return refuse('MODE_READS_ONLY', `${call.tool} changes files and this run only reads`);
    case 'normal':
      return ask(`${describeCall(call)} changes files, and a run in normal mode asks before that`);
    case 'auto':
      return allow(`${call.capability} is granted`);
  }
}

/** Every class of what a call runs; undefined where the command is not told. The tests of a project are TEST whatever runs them. */
function classesOf({ capability, command }: CallFacts): readonly CommandClass[] | undefined {
  if (capability.runs === 'tests') return ['TEST', ...(command?.classes ?? [])];
  return command?.classes;
}

function decideByPaths({ call, capability }: CallFacts, limits: GrantLimits): readonly PolicyDecision[] {
  const { names } = capability;
  if (names !== 'none' && call.paths.length === 0)
    return [refuse('LIMIT_NOT_EVALUABLE', `${call.capability} reaches files and the call names none`)];
  if (limits.paths === undefined && limits.exclude === undefined) return [];
  if (names === 'none') return [refuse('LIMIT_NOT_EVALUABLE', `${call.capability} is limited to paths and names none`)];
  return call.paths.map((path) => decidePathInLimits({ id: call.capability, names }, limits, path));
}

/** The capability and what it is used on, resolved: what a person says yes to. */
function describeCall({ capability, paths }: ToolCall): string {
  return paths.length === 0 ? capability : `${capability} of ${paths.slice(0, 5).map(showPath).join(', ')}`;
}
