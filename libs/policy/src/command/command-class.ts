/** From harmless to forbidden; the order is the severity. */
export const commandClasses = [
  'READ_ONLY',
  'TEST',
  'BUILD',
  'MUTATING',
  'GIT_MUTATION',
  'NETWORK',
  'REMOTE_MUTATION',
  'DESTRUCTIVE',
  'PRIVILEGED',
] as const;
export type CommandClass = (typeof commandClasses)[number];

/** The verdicts of a tool call, which is decided with this one among others. */
export type CommandVerdict = 'allow' | 'ask' | 'refuse';

export const summaryOfClass: Readonly<Record<CommandClass, string>> = {
  READ_ONLY: 'only reads',
  TEST: 'runs tests or checks of the project',
  BUILD: 'builds the project',
  MUTATING: 'changes files, runs a program nobody read, or is not known',
  GIT_MUTATION: 'changes the state of the local git repository',
  NETWORK: 'opens a network connection',
  REMOTE_MUTATION: 'publishes or changes something outside the sandbox',
  DESTRUCTIVE: 'destroys data or the state of the machine without a way back',
  PRIVILEGED: 'needs or gives elevated rights',
};

const verdictOfClass: Readonly<Record<CommandClass, CommandVerdict>> = {
  READ_ONLY: 'allow',
  TEST: 'allow',
  BUILD: 'allow',
  MUTATING: 'ask',
  GIT_MUTATION: 'ask',
  NETWORK: 'ask',
  REMOTE_MUTATION: 'ask',
  DESTRUCTIVE: 'refuse',
  PRIVILEGED: 'refuse',
};

export function severityOf(commandClass: CommandClass): number {
  return commandClasses.indexOf(commandClass);
}

/** The label of a command: its worst class; READ_ONLY where there is none. */
export function worstClass(classes: Iterable<CommandClass>): CommandClass {
  let worst: CommandClass = 'READ_ONLY';
  for (const each of classes) if (severityOf(each) > severityOf(worst)) worst = each;
  return worst;
}

/** The strictest verdict of the set, never of the label alone: without a network, one NETWORK part refuses the whole. */
export function decideByClasses(classes: Iterable<CommandClass>, network: boolean): CommandVerdict {
  let verdict: CommandVerdict = 'allow';
  for (const each of classes) {
    const own = each === 'NETWORK' && !network ? 'refuse' : verdictOfClass[each];
    if (own === 'refuse') return 'refuse';
    if (own === 'ask') verdict = 'ask';
  }
  return verdict;
}
