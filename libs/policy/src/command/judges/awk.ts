import type { Call } from '../call.ts';
import { isDynamic } from '../read-words.ts';

/** `awk`: its program may run commands (`system`, pipes, `getline` from one) and write files (`print > "f"`). */
export function judgeAwk(call: Call): void {
  const { words } = call;
  let program: string | undefined;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    const text = word?.text ?? '';
    if (/^(-f|-E|-i|-l|--file|--exec|--include|--load)/.test(text)) {
      call.add('MUTATING', 'loads its program from a file');
      return;
    }
    if (/^(-e|--source)$/.test(text)) {
      index += 1;
      judgeProgram(words[index]?.text ?? '', call);
      return;
    }
    if (/^-[Fv]$/.test(text) || /^--(assign|field-separator)$/.test(text)) index += 1;
    else if (/^(-o|-d|-p|--dump-variables|--profile|--pretty-print)/.test(text))
      call.add('MUTATING', 'writes a file of its own');
    else if (!text.startsWith('-') || text === '-') {
      if (word !== undefined && isDynamic(word) && !/[{}]/.test(text)) call.add('MUTATING', 'computes its program');
      program = text;
      break;
    }
  }
  if (program !== undefined) judgeProgram(program, call);
}

/** Longest program that is read. */
const PROGRAM_LIMIT = 2048;

function judgeProgram(program: string, call: Call): void {
  if (program.length > PROGRAM_LIMIT) {
    call.add('MUTATING', 'has a program that is too long to be read');
    return;
  }
  const code = withoutStrings(program);
  if (/\bsystem\s*\(|\|&|@(load|include|\w+\s*\()/.test(code) || /(^|[^|])\|(?!\|)/.test(code))
    call.add('MUTATING', 'has a program that runs commands');
  if (writesFile(code, program)) call.add('MUTATING', 'has a program that writes a file');
  if (/\/inet[46]?\//.test(program)) call.add('NETWORK', 'has a program that opens a network connection');
  if (/ENVIRON/.test(code) && /\b(for|print)\b/.test(code) && !/ENVIRON\s*\[\s*""/.test(code))
    call.add('MUTATING', 'may show the environment');
  for (const match of program.matchAll(
    /system\s*\(\s*"((?:[^"\\]|\\.)*)"|"((?:[^"\\]|\\.)*)"\s*\|\s*getline|\|&?\s*"((?:[^"\\]|\\.)*)"/g,
  )) {
    const command = match[1] ?? match[2] ?? match[3] ?? '';
    if (command !== '') call.runShell(command.replaceAll('\\"', '"'));
  }
}

/** A `>` after `print` in the same statement is a redirection, unless everything goes to the terminal. */
function writesFile(code: string, program: string): boolean {
  const redirects = code.split(/[;}\n]/).some((statement) => {
    const print = statement.search(/\bprintf?\b/);
    return print !== -1 && statement.includes('>', print);
  });
  if (!redirects) return false;
  const targets = [...program.matchAll(/>>?\s*("(?:[^"\\]|\\.)*")/g)].map((match) => match[1] ?? '');
  return targets.length === 0 || !targets.every((target) => /^"\/dev\/(stdout|stderr|null)"$/.test(target));
}

/** Strings and patterns are data; what is left is code. A slash after a value divides, so only the safe beginnings count. */
function withoutStrings(program: string): string {
  let result = '';
  let before = '{';
  for (let index = 0; index < program.length; index += 1) {
    const character = program[index] ?? '';
    if (character === '#') {
      const end = program.indexOf('\n', index);
      index = end === -1 ? program.length : end - 1;
      continue;
    }
    if (character === '"' || (character === '/' && /[{(,;!~&|\n]/.test(before))) {
      const start = index;
      index += 1;
      while (index < program.length && program[index] !== character && program[index] !== '\n') {
        if (program[index] === '\\') index += 1;
        index += 1;
      }
      if (index >= program.length || program[index] === '\n') {
        // It never ended: read it as code, which only adds findings.
        result += program.slice(start);
        return result;
      }
      result += '""';
      before = '"';
      continue;
    }
    result += character;
    if (character.trim() !== '') before = character;
  }
  return result;
}
