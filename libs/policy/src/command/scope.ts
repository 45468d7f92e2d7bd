import type { Function as ShellFunction } from 'unbash';
import { noArithmetic, type ArithmeticUse } from './arithmetic-use.ts';
import { HOLE } from './findings.ts';

/** What is known of the shell at some point of a script: every value a variable may have, not the one it has. */
export interface Scope {
  readonly variables: Map<string, string[]>;
  readonly functions: Map<string, KnownFunction>;
  /** Functions that are being walked, so that one that calls itself ends. */
  readonly calling: Set<string>;
  readonly arithmetic: ArithmeticUse;
  /** Arrays whose subscripts are texts and no arithmetic. */
  readonly associative: Set<string>;
  /** `$0 $1 …`; undefined where the caller's are unknown. */
  positional: readonly string[] | undefined;
  /** Where the script has gone with `cd`; empty at the start, a hole where it cannot be told. */
  directory: string;
  /** Which of several values of a variable is read; the widest number of them that was met. */
  choice: number;
  widest: number;
}

export interface KnownFunction {
  readonly node: ShellFunction;
  /** False where it may not be defined when it is called: then the name may be a program after all. */
  readonly certain: boolean;
}

const VALUES_LIMIT = 4;

export function emptyScope(positional?: readonly string[]): Scope {
  return {
    variables: new Map(),
    functions: new Map(),
    calling: new Set(),
    arithmetic: noArithmetic(),
    associative: new Set(),
    positional,
    directory: '',
    choice: 0,
    widest: 1,
  };
}

/** A shell of its own (`sh -c`): it sees the variables, and its positional words are what it was given. */
export function childScope(scope: Scope, positional: readonly string[] | undefined): Scope {
  return { ...scope, positional, choice: 0, widest: 1 };
}

/** A process of its own (a subshell, a part of a pipe): what it defines and where it goes ends with it. */
export function subshellScope(scope: Scope): Scope {
  return { ...scope, functions: new Map(scope.functions), associative: new Set(scope.associative) };
}

export function assign(scope: Scope, name: string, value: string): void {
  const values = scope.variables.get(name) ?? [];
  if (values.includes(value)) return;
  if (values.length < VALUES_LIMIT) values.push(value);
  else if (!values.includes(HOLE)) values[VALUES_LIMIT - 1] = HOLE;
  scope.variables.set(name, values);
}

/** One of the values; a hole where none is known. `$HOME` reads as `~`, so that paths below it are seen as such. */
export function lookUp(scope: Scope, name: string): string {
  const values = scope.variables.get(name);
  if (values !== undefined) {
    scope.widest = Math.max(scope.widest, values.length);
    return values[Math.min(scope.choice, values.length - 1)] ?? HOLE;
  }
  if (name === 'HOME') return '~';
  if (name === 'PWD') return '.';
  if (name === 'IFS') return ' ';
  if (/^\d+$/.test(name)) return scope.positional === undefined ? HOLE : (scope.positional[Number(name)] ?? '');
  return HOLE;
}

/** `$@` as words; one hole where nobody knows them. */
export function positionalWords(scope: Scope): readonly string[] {
  return scope.positional?.slice(1) ?? [HOLE];
}

/** A directory seen from where the script stands; `~` and absolute ones stand for themselves. */
export function resolvePath(scope: Scope, path: string): string {
  if (scope.directory === '' || /^[/~]/.test(path)) return path;
  return `${scope.directory.replace(/\/$/, '')}/${path}`;
}
