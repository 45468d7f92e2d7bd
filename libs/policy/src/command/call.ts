import type { CommandClass } from './command-class.ts';
import type { Arguments } from './read-arguments.ts';
import type { Field } from './read-words.ts';
import type { Form } from './rule.ts';
import type { Scope } from './scope.ts';

/** One program with its words, as the judge of its language sees it. */
export interface Call {
  readonly name: string;
  readonly form: Form;
  /** All words after the name (after the verb, for a verb). */
  readonly words: readonly Field[];
  readonly arguments: Arguments;
  readonly scope: Scope;
  /** What it will read from standard input, where that is known. */
  readonly stdin: string | undefined;
  /** True where standard input is a pipe, a file or a text, and no terminal. */
  readonly fed: boolean;
  add(is: CommandClass, why: string, irreversible?: boolean): void;
  /** Runs a program whose text nobody has read. */
  runUnread(why: string): void;
  /** Judges words as a command of its own. */
  runWords(words: readonly Field[]): void;
  /** Judges a text as a shell would read it, with `$0 $1 …` where they are known. */
  runShell(text: string, positional?: readonly string[]): void;
}

export type Judge = (call: Call) => void;
