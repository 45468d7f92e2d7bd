import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { Command, CommanderError } from 'commander';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { globalOptions } from './global-options.ts';
import type { Palette } from './text/paint.ts';
import { nameCommands } from './text/name-command.ts';
import { renderError } from './text/render-error.ts';
import { type Given, type Verb, type VerbOption, writeArgument } from './verb.ts';

export interface ProgramOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Invocation {
  readonly verb: Verb;
  readonly given: Given;
}

/** What the arguments ask for: a verb with what was given to it, or an exit code where the help or a fault was all. */
export async function readArguments(
  verbs: readonly Verb[],
  argv: readonly string[],
  version: string,
  /** What the person types before a verb. */
  typed: string,
  palette: Palette,
  given: ProgramOutput,
): Promise<Invocation | ExitCode> {
  let invocation: Invocation | undefined;
  const asJson = wantsJson(argv);
  let told = '';
  const output: ProgramOutput = { out: given.out, err: (text) => void (told += text) };
  let faulty: Verb | undefined;
  const program = createCommand(typed, output)
    .description('Give tasks to a fleet, watch them, decide on them.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText('after', `\n${exitCodeHelp()}\n\nEvery verb takes --help, which has examples.`);
  const groups = new Map<string, Command>();
  for (const verb of verbs) {
    const words = verb.name.split(' ');
    const name = words.at(-1) ?? '';
    const parent = words.length === 1 ? program : findGroup(program, groups, words[0] ?? '', output);
    const command = createCommand(name, output).description(verb.summary);
    for (const argument of verb.arguments) {
      command.argument(writeArgument(argument), argument.summary);
    }
    for (const option of [...verb.options, ...globalOptions]) addOption(command, option);
    command.addHelpText(
      'after',
      `\n${nameCommands([...wordsHelp(verb), exampleHelp(verb)].join('\n'), typed)}\n\nWith --json:\n  ${verb.json}; an error is a problem document on standard error\n\n${exitCodeHelp()}`,
    );
    const contradictions = watchContradictions(command, verb.options);
    command.configureOutput({
      outputError: (text, write) => {
        faulty = verb;
        write(text);
      },
    });
    command.action(() => {
      const [contradiction] = contradictions();
      if (contradiction !== undefined) command.error(`error: ${contradiction}`, { exitCode: exitCodes.usage.code });
      const named = verb.arguments.map(({ name: argument }, index) => [
        argument,
        command.processedArgs[index] as unknown,
      ]);
      invocation = {
        verb,
        given: { ...command.opts(), ...Object.fromEntries(named.filter(([, value]) => value !== undefined)) },
      };
    });
    parent.addCommand(command);
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done.code;
    const isHelp = error.code.startsWith('commander.help');
    if (isHelp && !asJson) given.err(told);
    else {
      const fault = describeFault(isHelp ? 'no command is given' : told || error.message, faulty);
      given.err(`${renderError(fault, { json: asJson, command: typed, palette })}\n`);
    }
    return exitCodes.usage.code;
  }
  return invocation ?? exitCodes.usage.code;
}

/** Whether results and errors are wanted as JSON, also where the arguments are not valid otherwise. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? argv.length : end).includes('--json');
}

/** A fault of the command line as every other error, with the help that says what is right. */
function describeFault(told: string, verb: Verb | undefined): FlotillaError {
  const reason = told
    .replace(/^error: /, '')
    .trim()
    .replace(/\s*\n\s*/g, ' ');
  return verb === undefined
    ? new FlotillaError(errors.commandInvalid, { reason })
    : new FlotillaError(errors.usageInvalid, { reason, verb: verb.name });
}

function createCommand(name: string, { out, err }: ProgramOutput): Command {
  return new Command(name)
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureOutput({ writeOut: out, writeErr: err })
    .helpCommand(false);
}

const groupSummaries: Readonly<Record<string, string>> = {
  project: 'add, look at and remove repositories',
  policy: 'see what the policy says of commands and calls',
  dead: 'look at messages that no service could handle, and send them again',
};

function findGroup(program: Command, groups: Map<string, Command>, name: string, output: ProgramOutput): Command {
  const known = groups.get(name);
  if (known !== undefined) return known;
  const group = createCommand(name, output).description(groupSummaries[name] ?? name);
  groups.set(name, group);
  program.addCommand(group);
  return group;
}

function addOption(command: Command, { flags, summary, repeatable }: VerbOption): void {
  if (repeatable !== true) command.option(flags, summary);
  else {
    // An option and its --no- form share one value, which is not a list before the first was given.
    command.option(`${flags}`, `${summary} (may be given several times)`, (value: string, values: unknown) =>
      Array.isArray(values) ? [...(values as readonly string[]), value] : [value],
    );
  }
}

/** An option and its `--no-` form share one value, of which the last would win unseen; the same goes for options that exclude one another. */
function watchContradictions(command: Command, options: readonly VerbOption[]): () => readonly string[] {
  const given = new Set<string>();
  for (const { long } of command.options) {
    if (typeof long === 'string') command.on(`option:${long.slice(2)}`, () => void given.add(long));
  }
  const pairs = command.options.flatMap(({ long, negate }) =>
    negate && typeof long === 'string' ? [[long.replace('--no-', '--'), long] as const] : [],
  );
  const excluded = options.flatMap(({ flags, excludes = [] }) => {
    const [name] = /--[a-z-]+/.exec(flags) ?? [];
    return name === undefined ? [] : excludes.map((other) => [name, other] as const);
  });
  return () =>
    [...pairs, ...excluded]
      .filter(([one, other]) => given.has(one) && given.has(other))
      .map(([one, other]) => `${one} and ${other} contradict one another: give one of them`);
}

function wordsHelp({ words }: Verb): readonly string[] {
  if (words === undefined) return [];
  const width = Math.max(...words.meanings.map(([word]) => word.length));
  return [`${words.title}:`, ...words.meanings.map(([word, meaning]) => `  ${word.padEnd(width)}  ${meaning}`), ''];
}

function exampleHelp({ examples }: Verb): string {
  return ['Examples:', ...examples.flatMap(({ command, summary }) => [`  ${command}`, `      ${summary}`])].join('\n');
}

function exitCodeHelp(): string {
  return [
    'Exit codes:',
    ...Object.values(exitCodes).map(({ code, summary }) => `  ${String(code).padStart(3)}  ${summary}`),
  ].join('\n');
}
