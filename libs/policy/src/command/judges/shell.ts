import type { Call } from '../call.ts';
import { HOLE } from '../findings.ts';
import { choosesCode, isCommandVariable } from '../judge-environment.ts';
import { isSecretVariable } from '../judge-paths.ts';
import { isDynamic } from '../read-words.ts';
import { assign } from '../scope.ts';

/** Shells: a `-c` text is read as what it is; a file, standard input or a start-up file is a program nobody read. */
export function judgeShell(call: Call): void {
  const { words } = call;
  let index = 0;
  let text: string | undefined;
  let reads = false;
  for (; index < words.length; index += 1) {
    const word = words[index]?.text ?? '';
    if (word === '--' || word === '-') {
      index += 1;
      break;
    }
    if (/^--(version|help)$/.test(word)) {
      call.add('READ_ONLY', 'says what it is');
      return;
    }
    if (/^--(rcfile|init-file)/.test(word)) {
      call.add('MUTATING', 'reads a start-up file that nobody read');
      if (!word.includes('=')) index += 1;
    } else if (/^[-+][oO]$/.test(word)) index += 1;
    else if (/^-[A-Za-z]*c[A-Za-z]*$/.test(word)) {
      // Other options may stand between -c and its text.
      reads = true;
    } else if (/^[-+]/.test(word)) continue;
    else break;
  }
  if (reads) {
    const script = words[index];
    const positional = words.slice(index + 1).map((word) => word.text);
    if (script === undefined) call.add('MUTATING', 'runs a text that is missing');
    else {
      text = script.text;
      if (isDynamic(script)) call.runUnread('runs a text that is computed');
      call.runShell(text, positional.length === 0 ? [call.name] : positional);
    }
    return;
  }
  const script = words[index];
  const readsInput = words.slice(0, index).some((word) => /^-[A-Za-z]*s[A-Za-z]*$/.test(word.text));
  if (script !== undefined && !readsInput) call.runUnread('runs a script that nobody read');
  // An expansion may turn out empty, and then the input is the script.
  if (script === undefined || readsInput || isDynamic(script) || isInput(script.text)) judgeInput(call);
}

function judgeInput(call: Call): void {
  if (call.stdin !== undefined && call.stdin !== '') {
    call.runUnread('runs its input');
    call.runShell(call.stdin);
  } else if (call.fed) call.runUnread('runs whatever it is fed');
  else call.add('MUTATING', 'starts a shell');
}

/** Interpreters: a version reads, a known module is what it is, everything else is a program nobody read. */
export function judgeInterpreter(call: Call): void {
  const { arguments: read } = call;
  const first = call.words[0]?.text;
  if (call.words.length === 1 && /^(-V|-v|--version|-version|-h|--help|version|env)$/.test(first ?? '')) return;
  // Known verbs and options have said what they do.
  if (read.options.length > 0 && read.operands.length === 0 && !call.fed) return;
  if (read.options.some((option) => option.effect.is === 'TEST' || option.effect.is === 'READ_ONLY')) return;
  const typed = read.options.some((option) => /^-e\b/.test(option.effect.on));
  if (typed && !call.words.some(isDynamic)) call.add('MUTATING', 'runs a program that is typed in');
  else if (read.operands.length > 0 && read.operands[0]?.text !== '-')
    call.runUnread('runs a program that nobody read');
  else call.runUnread(call.fed ? 'runs whatever it is fed' : 'runs a program that is typed in');
}

/** `env`: its own variables first, then a command; alone it shows the environment. */
export function judgeEnv(call: Call): void {
  const { words } = call;
  let index = 0;
  const assigned: string[] = [];
  for (; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (text === '--') {
      index += 1;
      break;
    }
    if (/^(--split-string=|-[iv0]*S.)/.test(text)) {
      call.runShell(
        `${text.replace(/^(--split-string=|-[iv0]*S=?)/, '')} ${quoteAll(words.slice(index + 1).map((word) => word.text))}`,
      );
      return;
    }
    if (/^(--split-string|-[iv0]*S)$/.test(text)) {
      call.runShell(`${words[index + 1]?.text ?? ''} ${quoteAll(words.slice(index + 2).map((word) => word.text))}`);
      return;
    }
    if (/^(-u|-C|--unset|--chdir|-P)$/.test(text)) index += 1;
    else if (text.startsWith('-')) continue;
    else if (/^[^=]+=/.test(text)) assigned.push(text);
    else break;
  }
  for (const each of assigned) judgeVariable(each, call);
  const rest = words.slice(index);
  if (rest.length > 0) call.runWords(rest);
  else if (call.words.length === 1 && /^--(version|help)$/.test(call.words[0]?.text ?? ''))
    call.add('READ_ONLY', 'says what it is');
  else call.add('MUTATING', 'shows the environment with its secrets');
}

function quoteAll(words: readonly string[]): string {
  return words.map((word) => (word.includes(HOLE) ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

/** `NAME=value` words as the environment of what follows. */
export function judgeEnvironment(call: Call): void {
  for (const word of call.words) judgeVariable(word.text, call);
}

function judgeVariable(text: string, call: Call): void {
  const equals = text.indexOf('=');
  const name = text.slice(0, equals).replace(/(\[.*)?\+?$/s, '');
  const value = text.slice(equals + 1);
  if (!choosesCode(name, value)) return;
  call.add('MUTATING', `sets ${name}, which decides what other programs run`);
  if (isCommandVariable(name)) call.runShell(value.replace(/^[|!]+-?/, ''));
}

/** `export`, `declare` and their like: what they set counts; listing shows every value. */
export function judgeVariables(call: Call): void {
  const operands = call.words.filter((word) => !/^[-+]/.test(word.text));
  const prints =
    call.words.some((word) => /^-[a-zA-Z]*p/.test(word.text)) ||
    (operands.length === 0 && !call.words.some((word) => /^-[a-zA-Z]*[fF]/.test(word.text)));
  if (
    prints &&
    call.name !== 'local' &&
    call.name !== 'shift' &&
    (operands.length === 0 || operands.some((operand) => isSecretVariable(operand.text)))
  )
    call.add('MUTATING', 'shows variables with their values');
  if (call.words.some((word) => /^-[a-zA-Z]*n/.test(word.text)) && call.name !== 'export')
    call.add('MUTATING', 'gives a variable another name');
  for (const operand of operands) {
    if (operand.text.includes('=')) judgeVariable(operand.text, call);
    else if (
      choosesCode(operand.text, HOLE) &&
      call.name === 'export' &&
      operand.text !== 'PATH' &&
      operand.text !== 'HOME'
    )
      call.add('MUTATING', `gives ${operand.text} to other programs`);
  }
  judgeSubscript(call);
}

/** A subscript in a name is evaluated as arithmetic, and arithmetic runs substitutions that quotes had hidden. */
export function judgeSubscript(call: Call): void {
  for (const { text } of call.words) {
    const place = /\[[^\]]{0,4096}?(\$\(|`|\$\{)/.exec(text.slice(0, 4096));
    if (place === null) continue;
    call.add('MUTATING', 'evaluates a subscript that holds a substitution');
    call.runShell(`: "${text.replaceAll('"', '\\"')}"`);
  }
}

/** Programs of which one option or one operand changes everything: `hostname`, `cd`, `set`, `trap`, `history`, `printenv`. */
export function judgeUnary(call: Call): void {
  const { operands } = call.arguments;
  const first = operands[0]?.text;
  switch (call.name) {
    case 'cd':
    case 'pushd':
      moveTo(call, first);
      return;
    case 'hostname':
    case 'domainname':
      if (first !== undefined) call.add('PRIVILEGED', 'sets the name of the machine');
      return;
    case 'printenv':
      if (operands.length === 0) call.add('MUTATING', 'shows the environment with its secrets');
      else if (operands.some((operand) => isDynamic(operand) || isSecretVariable(operand.text)))
        call.add('MUTATING', 'shows what may be a secret');
      return;
    case 'set':
      setPositional(call);
      return;
    case 'trap':
      if (operands.length > 1 && first !== undefined && first !== '-' && first !== '') call.runShell(first);
      return;
    case 'dmesg':
      if (call.arguments.flags.some((flag) => /^-[cCDEn]$|^--(clear|read-clear|console)/.test(flag)))
        call.add('PRIVILEGED', 'changes the log of the kernel');
      return;
    case 'printf':
      if (call.words[0]?.text === '-v') setVariable(call.words[1]?.text ?? HOLE, call);
      judgeSubscript(call);
      return;
    case 'read':
      for (const { text } of readNames(call)) setVariable(text, call);
      judgeSubscript(call);
      return;
    case 'compgen':
      judgeWordList(call);
      return;
    case 'eval':
      evaluate(call);
      return;
    case 'unset':
      for (const { text } of operands) {
        call.scope.functions.delete(text);
        call.scope.associative.delete(text);
      }
      judgeSubscript(call);
      return;
    case 'alias':
      for (const { text } of operands) if (text.includes('=')) call.runShell(text.slice(text.indexOf('=') + 1));
      return;
    case 'source':
    case '.':
      call.runUnread('runs a script that nobody read');
      if (isInput(first) && call.stdin !== undefined) call.runShell(call.stdin);
      return;
    case 'command':
      if (call.arguments.flags.some((flag) => /^-[vV]$/.test(flag))) call.add('READ_ONLY', 'says where a program is');
      else call.runWords(call.words.slice(call.words.findIndex((word) => !/^-(-|p)$/.test(word.text))));
      return;
    case 'flock':
    case 'lockf':
      runLocked(call);
      return;
    case 'ps':
      if (call.words.some((word) => /^[a-z]*e[a-z]*$/.test(word.text)))
        call.add('MUTATING', 'shows the environment of other programs');
      return;
    case 'yq':
      if (/\b(str)?env\s*\(/.test(first ?? '')) call.add('MUTATING', 'shows the environment with its secrets');
      return;
    case 'jq':
    case 'jaq':
    case 'gojq':
      if (/\$ENV\b|(^|[^.\w$-])env\b(?!:)/.test((first ?? '').replace(/"(?:[^"\\]|\\[^(])*"/g, '""')))
        call.add('MUTATING', 'shows the environment with its secrets');
      return;
    case 'less':
    case 'zless':
      for (const { text } of call.words) if (/^\+.*[!|s#]/.test(text)) runFromPager(text, call);
      return;
    default:
      return;
  }
}

function isInput(path: string | undefined): boolean {
  return path !== undefined && /^(-|\/dev\/(stdin|fd\/0)|\/proc\/self\/fd\/0)$/.test(path);
}

/** A variable that a builtin sets to what nobody can tell. */
function setVariable(word: string, call: Call): void {
  const name = word.replace(/\[.*$/s, '');
  assign(call.scope, name, HOLE);
  call.scope.arithmetic.texts.add(name);
  if (name.includes(HOLE)) call.add('MUTATING', 'sets a variable whose name is computed');
  if (choosesCode(name, HOLE)) call.add('MUTATING', `sets ${name}, which decides what other programs run`);
}

/** The variables of `read`: its operands and the array of `-a`, else REPLY. */
function readNames(call: Call): readonly { readonly text: string }[] {
  const { operands, flags } = call.arguments;
  const arrays = call.words.flatMap(({ text }, index) => {
    const given = /^-[ers]*a(.*)$/.exec(text)?.[1];
    const array = given === '' ? call.words[index + 1]?.text : given;
    return array === undefined ? [] : [{ text: array }];
  });
  return operands.length === 0 && !flags.includes('-a') ? [{ text: 'REPLY' }] : [...operands, ...arrays];
}

/** The words of `compgen -W` are expanded once more, substitutions and all. */
function judgeWordList(call: Call): void {
  for (const [index, word] of call.words.entries()) {
    const list = /^-[a-z]*W(.*)$/s.exec(word.text)?.[1];
    const text = list === '' ? call.words[index + 1]?.text : list;
    if (text === undefined) continue;
    if (text.includes(HOLE)) call.runUnread('expands a text that is computed');
    if (/[$`]/.test(text)) call.add('MUTATING', 'expands a text as a program');
    call.runShell(`: "${text.replaceAll('"', '\\"')}"`);
  }
  judgeSubscript(call);
}

function runLocked(call: Call): void {
  const rest = call.arguments.tail.slice(1);
  const text = rest.find((_, index) => /^(-c|--command)$/.test(rest[index - 1]?.text ?? ''));
  if (text !== undefined) call.runShell(text.text);
  else if (rest.length > 0) call.runWords(rest);
}

function runFromPager(text: string, call: Call): void {
  call.add('MUTATING', 'has a first command that runs or writes');
  const place = text.indexOf('!');
  if (place !== -1) call.runShell(text.slice(place + 1));
}

function evaluate(call: Call): void {
  if (call.words.length === 0) return;
  if (call.words.some(isDynamic)) call.runUnread('runs a text that is computed');
  call.runShell(call.words.map((word) => word.text).join(' '));
}

function moveTo(call: Call, directory: string | undefined): void {
  const target = directory ?? '~';
  if (target === '-' || target.includes(HOLE)) call.scope.directory = HOLE;
  else if (/^[/~]/.test(target) || call.scope.directory === '') call.scope.directory = target;
  else call.scope.directory = `${call.scope.directory.replace(/\/$/, '')}/${target}`;
}

function setPositional(call: Call): void {
  const words = call.words.map((word) => word.text);
  if (words.length === 0) call.add('MUTATING', 'shows variables with their values');
  const end = words.indexOf('--');
  const values =
    end === -1 ? (words[0] !== undefined && !/^[-+]/.test(words[0]) ? words : undefined) : words.slice(end + 1);
  if (values !== undefined) call.scope.positional = [call.scope.positional?.[0] ?? 'sh', ...values];
  if (words.some((word, index) => /^-[a-z]*a/.test(word) || (word === '-o' && words[index + 1] === 'allexport')))
    call.add('READ_ONLY', 'exports what is assigned from here on');
}
