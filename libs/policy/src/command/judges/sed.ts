import type { Call } from '../call.ts';
import { isDynamic } from '../read-words.ts';

/** `sed`: its program may write files (`w`, `W`, `s///w`) and run commands (`e`, `s///e`). */
export function judgeSed(call: Call): void {
  const programs: string[] = [];
  let fromFile = false;
  const { words } = call;
  let operandTaken = false;
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (text === '-e' || text === '--expression') {
      index += 1;
      programs.push(words[index]?.text ?? '');
      operandTaken = true;
    } else if (/^-[nErsuz]*e./.test(text)) {
      programs.push(text.slice(text.indexOf('e') + 1));
      operandTaken = true;
    } else if (/^-[nErsuz]+e$/.test(text)) {
      index += 1;
      programs.push(words[index]?.text ?? '');
      operandTaken = true;
    } else if (/^--expr[a-z]*=/.test(text)) {
      programs.push(text.slice(text.indexOf('=') + 1));
      operandTaken = true;
    } else if (/^-[nErsuz]*f|^--fi/.test(text)) {
      fromFile = true;
      operandTaken = true;
      if (/^-[nErsuz]*f$|^--fi[a-z]*$/.test(text)) index += 1;
    } else if (!operandTaken && (!text.startsWith('-') || text === '-')) {
      const word = words[index];
      if (word !== undefined && isDynamic(word) && !/["'/]/.test(word.text))
        call.add('MUTATING', 'computes its program');
      programs.push(text);
      operandTaken = true;
    }
  }
  if (fromFile) call.add('MUTATING', 'takes its program from a file');
  for (const program of programs) judgeProgram(program, call);
}

/** Longest program that is read. */
const PROGRAM_LIMIT = 4096;

function judgeProgram(program: string, call: Call): void {
  if (program.length > PROGRAM_LIMIT) {
    call.add('MUTATING', 'has a program that is too long to be read');
    return;
  }
  if (call.words.some((word) => word.text === '--sandbox')) return;
  // Whether a delimiter counts inside a bracket expression differs between implementations; both readings count.
  for (const brackets of program.includes('[') ? [true, false] : [true]) {
    const found = scanSedProgram(program, brackets);
    if (found.writes) call.add('MUTATING', 'has a program that writes a file');
    if (found.runs) call.add('MUTATING', 'has a program that runs commands');
    for (const command of found.commands) call.runShell(command);
  }
}

function endOfBracket(program: string, start: number): number {
  const first = program[start + 1] === '^' ? start + 3 : start + 2;
  const end = program.indexOf(']', first);
  return end === -1 ? start : end;
}

/** Walks a program command by command, so that letters in patterns and texts are not taken for commands. */
function scanSedProgram(
  program: string,
  brackets: boolean,
): { writes: boolean; runs: boolean; commands: readonly string[] } {
  let writes = false;
  let runs = false;
  const commands: string[] = [];
  let index = 0;
  const restOfLine = (): string => {
    const end = program.indexOf('\n', index);
    const rest = program.slice(index, end === -1 ? program.length : end);
    index = end === -1 ? program.length : end;
    return rest;
  };
  const skipTo = (delimiter: string, pattern = true): void => {
    while (index < program.length && program[index] !== delimiter) {
      if (program[index] === '\\') index += 1;
      else if (pattern && brackets && program[index] === '[' && delimiter !== '[') index = endOfBracket(program, index);
      index += 1;
    }
    index += 1;
  };
  while (index < program.length) {
    const character = program[index] ?? '';
    index += 1;
    if (/[\s;{}!,+~0-9$]/.test(character)) continue;
    if (character === '/') skipTo('/');
    else if (character === '\\') {
      const delimiter = program[index] ?? '';
      index += 1;
      skipTo(delimiter);
    } else if (character === 'I' || character === 'M') continue;
    else if (character === 's' || character === 'y') {
      const delimiter = program[index] ?? '';
      index += 1;
      const start = index;
      skipTo(delimiter);
      const replacementStart = index;
      skipTo(delimiter, false);
      const replacement = program.slice(replacementStart, index - 1);
      if (index > program.length + 1 || start >= program.length) continue;
      if (character === 'y') continue;
      while (/[gpiImMe0-9]/.test(program[index] ?? '')) {
        if (program[index] === 'e') {
          runs = true;
          commands.push(replacement);
        }
        index += 1;
      }
      if (program[index] === 'w') {
        index += 1;
        if (!/^\s*\/dev\/(stdout|stderr|null)\s*$/.test(restOfLine())) writes = true;
      }
    } else if (character === 'w' || character === 'W') {
      if (!/^\s*\/dev\/(stdout|stderr|null)\s*$/.test(restOfLine())) writes = true;
    } else if (character === 'e') {
      runs = true;
      commands.push(restOfLine().trim());
    } else if (/[aicrRbtT:#lqQLvF]/.test(character)) {
      if (/[aicrR#:]/.test(character)) restOfLine();
      else while (/[^;\n}]/.test(program[index] ?? ';')) index += 1;
    }
  }
  return { writes, runs, commands: commands.filter((command) => command !== '') };
}
