import type { CommandExpansionPart, Word, WordPart } from 'unbash';
import type { ArithmeticUse } from './arithmetic-use.ts';
import { HOLE } from './findings.ts';
import { lookUp, positionalWords, type Scope } from './scope.ts';

type Output = Pick<CommandExpansionPart, 'text' | 'script'>;

interface Sources {
  readonly names: Set<string>;
  text: boolean;
}

/** Notes where the value of a variable comes from. */
export function noteFlow(name: string, values: readonly Word[], scope: Scope): void {
  const sources = sourcesOf(values, scope);
  const { texts, flows } = scope.arithmetic;
  if (sources.text) texts.add(name);
  flows.set(name, new Set([...(flows.get(name) ?? []), ...sources.names]));
}

/** Notes that words are evaluated; true where one of them is a text that nobody has read. */
export function noteEvaluated(words: readonly Word[], scope: Scope): boolean {
  const sources = sourcesOf(words, scope);
  for (const name of sources.names) scope.arithmetic.evaluated.add(name);
  return sources.text;
}

/** The same of an expression as it is written. */
export function noteExpression(text: string, parts: readonly WordPart[], scope: Scope): boolean {
  const sources: Sources = { names: new Set(), text: false };
  const lengths = /\$\{#[^}]*\}/g;
  addText(text.replace(lengths, ''), sources);
  for (const [, name] of text.replace(lengths, '').matchAll(/\$\{?(\d+|[@*])/g))
    addParameter(name ?? '', sources, scope);
  for (const part of parts) if (part.type === 'CommandExpansion') addPart(part, sources, scope);
  for (const name of sources.names) scope.arithmetic.evaluated.add(name);
  return sources.text;
}

/** Notes that what a command prints is evaluated. */
export function noteOutput(command: Output, scope: Scope): boolean {
  const sources: Sources = { names: new Set(), text: false };
  addOutput(command, sources, scope);
  for (const name of sources.names) scope.arithmetic.evaluated.add(name);
  return sources.text;
}

/** A variable whose unread text is evaluated, once the whole script is noted. */
export function findEvaluatedText({ evaluated, texts, flows }: ArithmeticUse): string | undefined {
  // A set that grows while it is walked is walked to its end.
  const reached = new Set(evaluated);
  for (const name of reached) {
    if (texts.has(name)) return name;
    for (const next of flows.get(name) ?? []) reached.add(next);
  }
  return undefined;
}

function sourcesOf(words: readonly Word[], scope: Scope): Sources {
  const sources: Sources = { names: new Set(), text: false };
  for (const word of words) {
    if (word.parts === undefined) addText(word.value, sources);
    else for (const part of word.parts) addPart(part, sources, scope);
  }
  return sources;
}

function addText(text: string, sources: Sources): void {
  sources.text ||= text.includes(HOLE);
  for (const [name] of text.matchAll(/(?<![\w#])[A-Za-z_]\w*/g)) sources.names.add(name);
}

function addParameter(name: string, sources: Sources, scope: Scope): void {
  if (/^[A-Za-z_]/.test(name)) sources.names.add(name);
  // What a function is given counts where it is called.
  else if (scope.positional === undefined) return;
  else if (name === '@' || name === '*') sources.text ||= positionalWords(scope).some((word) => word.includes(HOLE));
  else if (/^\d/.test(name)) sources.text ||= lookUp(scope, name).includes(HOLE);
}

function addPart(part: WordPart, sources: Sources, scope: Scope): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      addText(part.value, sources);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const inner of part.parts) addPart(inner, sources, scope);
      return;
    case 'SimpleExpansion':
      addParameter(part.text.replaceAll('\\\n', '').slice(1), sources, scope);
      return;
    case 'ParameterExpansion':
      if (part.prefix === '#') return;
      if (part.prefix === '!') sources.text = true;
      addParameter(part.parameter, sources, scope);
      for (const word of operandsOf(part)) addWords([word], sources, scope);
      return;
    case 'CommandExpansion':
      addOutput(part, sources, scope);
      return;
    case 'BraceExpansion':
      addText(part.text, sources);
      return;
    case 'Glob':
    case 'ExtendedGlob':
      // The name of a file is what somebody chose.
      sources.text = true;
      return;
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return;
  }
}

function addWords(words: readonly Word[], sources: Sources, scope: Scope): void {
  const more = sourcesOf(words, scope);
  sources.text ||= more.text;
  for (const name of more.names) sources.names.add(name);
}

function operandsOf({ operation }: Extract<WordPart, { type: 'ParameterExpansion' }>): readonly Word[] {
  if (operation?.type === 'Default') return [operation.operand];
  return operation?.type === 'Replace' ? [operation.replacement] : [];
}

/** Programs whose output is numbers alone, however they are called here. */
const PRINTS_NUMBERS = /^(date \+%s(%3?N)?|nproc|seq( \d+)+|wc -[lcwm] ?< ?[\w./-]+|id -u)$/;

function addOutput({ text, script }: Output, sources: Sources, scope: Scope): void {
  const [statement, ...others] = script?.commands ?? [];
  const command = statement?.command.type === 'Command' ? statement.command : undefined;
  const name = command?.name?.text ?? '';
  if (command !== undefined && others.length === 0 && !scope.functions.has(name)) {
    if (PRINTS_NUMBERS.test(text.replace(/^(\$\(|`)\s*/, '').replace(/\s*(\)|`)$/, ''))) return;
    if (/^(echo|printf)$/.test(name)) {
      addWords(
        command.args.filter((each) => each.type === 'Word'),
        sources,
        scope,
      );
      return;
    }
  }
  sources.text = true;
}
