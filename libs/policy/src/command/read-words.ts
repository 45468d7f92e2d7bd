import { parse, type Command, type Script, type Word, type WordPart } from 'unbash';
import { expandBraces } from './expand-braces.ts';
import { HOLE } from './findings.ts';
import { assign, lookUp, positionalWords, type Scope } from './scope.ts';

/** A word after quote removal and every expansion that can be told without running anything. */
export interface Field {
  /** With a hole for each piece that only the shell will know. */
  readonly text: string;
  /** True where it is not what is written: it came out of an expansion, or is a pattern. */
  readonly computed: boolean;
  /** True where it may turn out to be no word at all. */
  readonly optional?: boolean;
}

export function literal(text: string): Field {
  return { text, computed: false };
}

export function isDynamic(field: Field): boolean {
  return field.text.includes(HOLE);
}

function isHoles(text: string): boolean {
  return text !== '' && text.replaceAll(HOLE, '') === '';
}

const FIELDS_LIMIT = 256;

/** The fields that a word becomes; none where an unquoted expansion is empty. */
export function readWord(word: Word, scope: Scope): readonly Field[] {
  const { parts } = word;
  // A hole in a text that is read again stands for whatever was there.
  if (parts === undefined) return [{ text: word.value, computed: false, optional: isHoles(word.value) }];
  if (parts.some((part) => part.type === 'BraceExpansion')) return readBracedWord(word.text, scope);
  const builder = new FieldBuilder();
  readParts(parts, scope, builder, false);
  return builder.finish();
}

/** A word where the shell neither splits nor expands braces: an assigned value, a redirect's target. */
export function readText(word: Word, scope: Scope): string {
  const { parts } = word;
  if (parts === undefined) return word.value;
  const builder = new FieldBuilder();
  readParts(parts, scope, builder, true);
  return builder
    .finish()
    .map((field) => field.text)
    .join(' ');
}

/** A here-document's body, which has parts and no words. */
export function readBody(parts: readonly WordPart[], scope: Scope): string {
  const builder = new FieldBuilder();
  readParts(parts, scope, builder, true);
  return builder
    .finish()
    .map((field) => field.text)
    .join(' ');
}

function readBracedWord(text: string, scope: Scope): readonly Field[] {
  const expanded = expandBraces(text);
  if (expanded === undefined) return [{ text: HOLE, computed: true }];
  return expanded.flatMap((each) => {
    const command = onlyCommand(parse(`: ${each}`));
    const fields = (command?.args ?? []).flatMap((argument) =>
      argument.type === 'Word' && !argument.parts?.some((part) => part.type === 'BraceExpansion')
        ? readWord(argument, scope)
        : [literal(HOLE)],
    );
    return fields.map((field) => ({ text: field.text, computed: true }));
  });
}

class FieldBuilder {
  private readonly fields: Field[] = [];
  private text = '';
  private started = false;
  private computed = false;
  private quoted = false;

  append(text: string, computed: boolean): void {
    this.text += text;
    this.started = true;
    this.computed ||= computed;
  }

  markQuoted(): void {
    this.quoted = true;
  }

  /** What an unquoted expansion gives is split on blanks, as with the usual IFS. */
  appendSplit(text: string): void {
    this.computed = true;
    for (const [index, piece] of text.split(/[ \t\n]+/).entries()) {
      if (index > 0) this.end();
      if (piece !== '') this.append(piece, true);
    }
  }

  appendWords(words: readonly string[]): void {
    this.computed = true;
    for (const [index, word] of words.entries()) {
      if (index > 0) this.end();
      this.append(word, true);
    }
  }

  end(): void {
    if (this.started && this.fields.length < FIELDS_LIMIT)
      this.fields.push({ text: this.text, computed: this.computed, optional: !this.quoted && isHoles(this.text) });
    this.text = '';
    this.started = false;
    this.computed = true;
  }

  finish(): readonly Field[] {
    this.end();
    return this.fields;
  }
}

function readParts(parts: readonly WordPart[], scope: Scope, builder: FieldBuilder, quoted: boolean): void {
  for (const part of parts) readPart(part, scope, builder, quoted);
}

function readPart(part: WordPart, scope: Scope, builder: FieldBuilder, quoted: boolean): void {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      builder.append(part.value, false);
      return;
    case 'Glob':
    case 'ExtendedGlob':
      builder.append(part.text, !quoted);
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      // `"$@"` may be no word at all, quotes or not.
      if (!isWords(part.parts)) {
        builder.append('', false);
        builder.markQuoted();
      }
      readParts(part.parts, scope, builder, true);
      return;
    case 'SimpleExpansion': {
      const name = part.text.replaceAll('\\\n', '').slice(1);
      if (name === '@' || (name === '*' && !quoted)) builder.appendWords(positionalWords(scope));
      else
        expandInto(
          builder,
          name === '*' ? positionalWords(scope).join(' ') : firstElement(lookUp(scope, name)),
          quoted,
        );
      return;
    }
    case 'ParameterExpansion': {
      const array = part.index?.text === '@' || part.index?.text === '*';
      if (
        (part.parameter === '@' || part.parameter === '*') &&
        part.operation === undefined &&
        part.prefix === undefined
      )
        builder.appendWords(positionalWords(scope));
      else if (array && part.operation === undefined && part.prefix === undefined)
        builder.appendWords(lookUp(scope, part.parameter).split(ELEMENT));
      else expandInto(builder, readParameter(part, scope), quoted);
      return;
    }
    case 'CommandExpansion':
      expandInto(builder, (part.script && readOutput(part.script, scope)) ?? HOLE, quoted);
      return;
    case 'ArithmeticExpansion':
      expandInto(builder, HOLE, true);
      return;
    case 'ProcessSubstitution':
      builder.append('/dev/fd/63', true);
      return;
    case 'BraceExpansion':
      builder.append(quoted ? part.text : HOLE, !quoted);
      return;
  }
}

function isWords(parts: readonly WordPart[]): boolean {
  const [only, ...others] = parts;
  return only !== undefined && others.length === 0 && /^\$(@|\{@\}|\{\w+\[@\]\})$/.test(only.text);
}

function expandInto(builder: FieldBuilder, text: string, quoted: boolean): void {
  if (quoted) builder.append(text, true);
  else builder.appendSplit(text);
}

/** Between the elements of an array as it is kept in the scope. */
export const ELEMENT = '\u{e001}';

/** An array without a subscript is its first element. */
function firstElement(value: string): string {
  return value.split(ELEMENT, 1)[0] ?? '';
}

type Parameter = Extract<WordPart, { type: 'ParameterExpansion' }>;

function readParameter(part: Parameter, scope: Scope): string {
  if (part.prefix !== undefined) return HOLE;
  const value = readValue(part, scope);
  const { operation } = part;
  if (operation === undefined) return value;
  const known = !value.includes(HOLE);
  switch (operation.type) {
    case 'Default': {
      const operand = readText(operation.operand, scope);
      if (operation.operator === '+' || operation.operator === ':+') return operand;
      if (operation.operator.endsWith('?')) return value;
      if (operation.operator.endsWith('=')) assign(scope, part.parameter, operand);
      return known && value !== '' && scope.choice === 0 && scope.variables.has(part.parameter) ? value : operand;
    }
    case 'Remove': {
      const operand = readText(operation.operand, scope);
      if (value === ' ') return ' ';
      if (!known || /[*?[\\]/.test(operand) || operand.includes(HOLE)) return HOLE;
      if (operation.operator.startsWith('#')) return value.startsWith(operand) ? value.slice(operand.length) : value;
      return value.endsWith(operand) ? value.slice(0, value.length - operand.length) : value;
    }
    case 'Replace': {
      const pattern = readText(operation.pattern, scope);
      const replacement = readText(operation.replacement, scope);
      if (!known || pattern === '' || /[*?[\\]/.test(pattern) || `${pattern}${replacement}`.includes(HOLE)) return HOLE;
      return operation.operator === '//'
        ? value.replaceAll(pattern, () => replacement)
        : value.replace(pattern, () => replacement);
    }
    case 'Slice': {
      const offset = Number(readText(operation.offset, scope));
      const length = operation.length === undefined ? undefined : Number(readText(operation.length, scope));
      if (value === ' ') return ' ';
      if (!known || !Number.isInteger(offset) || (length !== undefined && !(length >= 0))) return HOLE;
      return length === undefined ? value.slice(offset) : value.slice(offset).slice(0, length);
    }
    case 'CaseModification':
      if (!known || operation.operand !== undefined) return HOLE;
      if (operation.operator === ',,') return value.toLowerCase();
      if (operation.operator === '^^') return value.toUpperCase();
      return HOLE;
    case 'Transform':
    case 'Names':
    case 'Unknown':
      return HOLE;
  }
}

function readValue(part: Parameter, scope: Scope): string {
  const value = lookUp(scope, part.parameter);
  const elements = value.split(ELEMENT);
  if (part.index === undefined) return elements[0] ?? HOLE;
  const index = Number(readText(part.index, scope));
  return Number.isInteger(index) ? (elements.at(index) ?? '') : HOLE;
}

/** What a substitution prints, where that is plain: `$(echo rm)`, `$(printf rm)`, `$(command -v rm)`, `$(which rm)`. */
function readOutput(script: Script, scope: Scope): string | undefined {
  const command = onlyCommand(script);
  if (command?.name === undefined || command.redirects.length > 0 || command.prefix.length > 0) return undefined;
  return readPrinted(command, scope)?.replace(/\n+$/, '');
}

/** What `echo` or `printf` prints; undefined for any other command. */
export function readPrinted(command: Command, scope: Scope): string | undefined {
  const [name, ...rest] = [command.name, ...command.args].flatMap((word) =>
    word?.type === 'Word' ? readWord(word, scope).map((field) => field.text) : [HOLE],
  );
  if (name === 'echo') {
    const first = rest.findIndex((each) => !/^-[neE]+$/.test(each));
    return first === -1 ? '' : rest.slice(first).join(' ');
  }
  if (name === 'printf') return formatPrinted(rest[0] === '--' ? rest.slice(1) : rest);
  if (name === 'which' || name === 'command' || name === 'type') {
    const operands = rest.filter((each) => !each.startsWith('-'));
    return operands.length === 1 && (name === 'which' || rest.some((each) => /^-[vpPt]/.test(each)))
      ? operands[0]
      : undefined;
  }
  return undefined;
}

function formatPrinted(words: readonly string[]): string | undefined {
  const [format, ...values] = words;
  if (format === undefined || format === '-v') return undefined;
  if (!format.includes('%') && !format.includes('\\')) return format;
  if (/^(%[sb](\\n| )?)+$/.test(format))
    return values.join(format.includes('\\n') ? '\n' : format.includes(' ') ? ' ' : '');
  return format.replaceAll('\\n', '\n').replace(/%./g, HOLE).replace(/\\./g, HOLE);
}

/** The simple command that is all of a script. */
function onlyCommand(script: Script): Command | undefined {
  const [statement, ...others] = script.commands;
  if (statement === undefined || others.length > 0) return undefined;
  return statement.command.type === 'Command' ? statement.command : undefined;
}
