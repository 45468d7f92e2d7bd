import type { CommandClass } from './command-class.ts';

/** An option with an effect. Long names also match by their unambiguous beginnings, as GNU's do. */
export interface OptionEffect {
  /** Spellings, separated by blanks: `-o --output`. */
  readonly on: string;
  readonly is: CommandClass;
  /** Follows the program's name: "sort writes its output to a file". */
  readonly why: string;
  readonly irreversible?: true;
  /**
   * What the option's value is: `shell` a command line, `program` words of a command that end the options, `file` a file that is
   * written (nothing where that is `/dev/null` or `-`), `url` nothing more.
   */
  readonly value?: 'shell' | 'program' | 'file';
  /** The effect counts only where the value matches, or (`unless`) where it does not. */
  readonly when?: RegExp;
  readonly unless?: RegExp;
}

/** How a program that runs another one names it. */
export interface Carrier {
  /** Operands before the command: the duration of timeout, the host of ssh. */
  readonly skip?: number;
  /** `words`: the rest is a command; `shell`: the rest is joined and read by a shell; `each`: every operand is such a line. */
  readonly as: 'words' | 'shell' | 'each';
  /** `NAME=value` words before the command are environment. */
  readonly assignments?: true;
  /** The class where no command follows. */
  readonly none?: CommandClass;
  /** What the carrier adds to the command: ssh is NETWORK whatever it runs. */
  readonly floor?: CommandClass;
}

/** Programs with a language of their own, or with operands whose number counts. */
export type JudgeName =
  | 'after-dashes'
  | 'awk'
  | 'chmod'
  | 'cloud'
  | 'cmake'
  | 'compiler'
  | 'container-command'
  | 'crontab'
  | 'curl'
  | 'date'
  | 'dd'
  | 'env'
  | 'environment'
  | 'find'
  | 'fix-verb'
  | 'formatter'
  | 'gh-api'
  | 'git'
  | 'git-branch'
  | 'git-check'
  | 'git-clean'
  | 'git-config'
  | 'git-discard'
  | 'git-push'
  | 'git-remote-show'
  | 'git-tag'
  | 'git-two-operands'
  | 'interpreter'
  | 'kill'
  | 'kubectl-get'
  | 'make'
  | 'maven'
  | 'move'
  | 'network-show'
  | 'npm-script'
  | 'npm-test'
  | 'npx'
  | 'operand-writes'
  | 'package-query'
  | 'python'
  | 'remote-copy'
  | 'rm'
  | 'sed'
  | 'service'
  | 'shell'
  | 'socat'
  | 'sql'
  | 'ssh'
  | 'subscript'
  | 'sysctl'
  | 'tar'
  | 'tasks'
  | 'tee'
  | 'terraform'
  | 'test-runner'
  | 'unary'
  | 'variables'
  | 'workspace'
  | 'yarn-workspace';

/** What is known of a program, or of one of its verbs, as data. */
export interface Form {
  /** The class of a plain call; a call whose parts are worse gets those too. */
  readonly is: CommandClass;
  readonly why?: string;
  readonly irreversible?: true;
  /** Options that take the next word as their value, separated by blanks. A verb knows its program's as well. */
  readonly valued?: string;
  readonly effects?: readonly OptionEffect[];
  /** Verbs by class, separated by blanks. */
  readonly verbs?: Readonly<Partial<Record<CommandClass, string>>>;
  /** Verbs that need more than a class; names separated by blanks. */
  readonly forms?: Readonly<Record<string, Form>>;
  /** Verbs among the above that nobody can take back. */
  readonly final?: string;
  /** The class without any verb; READ_ONLY (help) unless said. */
  readonly bare?: CommandClass;
  /** The class of a verb that is not listed; MUTATING unless said. */
  readonly other?: CommandClass;
  /** A verb that is not listed is a tool of the project, which is judged as itself, or the name of a script. */
  readonly otherRuns?: true;
  /** Options end at the first operand, as before a command. */
  readonly stops?: true;
  /** `single`: options are whole words after one dash (find, gcc, java, terraform). */
  readonly style?: 'single';
  /** It shows what is in its operands, so that a secret among them counts. */
  readonly reads?: true;
  /** Its first operand is a pattern and no file. */
  readonly pattern?: true;
  /** Its operands are files that it changes. */
  readonly writes?: true;
  readonly carries?: Carrier;
  readonly judge?: JudgeName;
  /** Refused by name: not even `--version` is let through. */
  readonly always?: true;
  /** Its options may also stand after the verb. */
  readonly everywhere?: true;
  /** It may also be run from the project's own `node_modules/.bin`, and by npx and its like. */
  readonly tool?: true;
}

/** A command line and the class that the rule must give it; a `!` at the end of the class says irreversible. */
export type RuleExample = readonly [command: string, expected: CommandClass | `${CommandClass}!`];

export interface Rule extends Form {
  /** The program's names, separated by blanks. */
  readonly names: string;
  readonly examples: readonly [RuleExample, ...RuleExample[]];
}
