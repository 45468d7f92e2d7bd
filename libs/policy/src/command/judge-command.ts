import type { Call } from './call.ts';
import type { CommandClass } from './command-class.ts';
import { HOLE, LimitReached, PARTS_LIMIT, showWords, type Findings } from './findings.ts';
import { isSecretPath, normalisePath, whyDestroyed } from './judge-paths.ts';
import { judges } from './judges/judges.ts';
import { readArguments, type Arguments, type Option } from './read-arguments.ts';
import { isDynamic, literal, type Field } from './read-words.ts';
import type { Form } from './rule.ts';
import { findRule, verbForm } from './rule-table.ts';
import { resolvePath, type Scope } from './scope.ts';

/** What a command is judged in. */
export interface Setting {
  readonly findings: Findings;
  readonly scope: Scope;
  /** Programs inside programs so far. */
  readonly depth: number;
  readonly stdin: string | undefined;
  readonly fed: boolean;
  /** Judges a text as a shell reads it. */
  readonly shell: (text: string, setting: Setting, positional: readonly string[] | undefined) => void;
}

/** Wrappers in wrappers; nobody writes more than a few. */
const DEPTH_LIMIT = 24;
/** As many words as fit in what is shown of a command. */
const SHOWN_WORDS = 61;
const TRUSTED = /^\/(usr\/)?(local\/)?s?bin\/[^/]+$|^\/opt\/homebrew\/s?bin\/[^/]+$/;
const PROJECT_TOOL = /^(\.\/)?(\.\.\/)*([\w@.-]+\/)*node_modules\/\.bin\/([^/]+)$/;

/** Judges the words of one simple command, its name first. */
export function judgeCommand(words: readonly Field[], setting: Setting): void {
  const [first, ...rest] = words;
  const { findings } = setting;
  if (findings.count > PARTS_LIMIT) throw new LimitReached();
  if (first === undefined) return;
  const shown = showWords(
    words
      .slice(0, SHOWN_WORDS)
      .map((word) => word.text)
      .join(' '),
  );
  const add = (is: CommandClass, why: string, irreversible = false): void => {
    findings.add({ command: shown, class: is, why, irreversible });
  };
  if (setting.depth > DEPTH_LIMIT) {
    add('MUTATING', 'wraps more programs than are followed', true);
    return;
  }
  if (isDynamic(first) || (first.computed && /[*?[]/.test(first.text))) {
    add('MUTATING', 'computes the name of the program that it runs');
    if (rest.some((word) => /^-[a-zA-Z]*([rR][a-zA-Z]*f|f[a-zA-Z]*[rR])[a-zA-Z]*$/.test(word.text)))
      add('DESTRUCTIVE', 'runs a computed program with the flags of a forced recursive removal');
    // An expansion may turn out empty: then what is left of the word is the program, or the next word is.
    const left = first.text.replaceAll(HOLE, '');
    const inner = { ...setting, depth: setting.depth + 1 };
    if (left !== '' && !/[*?[]/.test(left)) judgeCommand([{ text: left, computed: true }, ...rest], inner);
    else if (first.optional) judgeCommand(rest, inner);
    return;
  }
  if (first.computed) add('MUTATING', 'computes the name of the program that it runs');
  const program = resolveProgram(first.text);
  if (program.kind === 'unknown') {
    add('MUTATING', program.why);
    return;
  }
  if (program.form.forms === undefined && !program.form.always && isQuestion(rest)) add('READ_ONLY', 'says what it is');
  else {
    const before = findings.takeClasses();
    new FormJudge(program.name, setting, add).judge(program.form, rest);
    const runsProject = findings.classes.has('TEST') || findings.classes.has('BUILD');
    findings.giveBackClasses(before);
    if (runsProject && TEMPORARY.test(setting.scope.directory))
      add('MUTATING', 'runs the code of a temporary directory');
  }
}

const TEMPORARY = /^\/(tmp|var\/tmp|dev\/shm)(\/|$)/;

/** `--help` or `--version` alone. */
function isQuestion(words: readonly Field[]): boolean {
  return words.length === 1 && /^(--version|--help)$/.test(words[0]?.text ?? '');
}

type Program =
  | { readonly kind: 'known'; readonly name: string; readonly form: Form }
  | { readonly kind: 'unknown'; readonly why: string };

/** A program is known by a bare name, or by its path in a directory of the system; anything else is whatever lies there. */
function resolveProgram(word: string): Program {
  if (!word.includes('/')) return known(word, 'is not a known program');
  const path = normalisePath(word);
  if (TRUSTED.test(path)) return known(path.slice(path.lastIndexOf('/') + 1), 'is not a known program');
  if (/\/ld-(linux|musl)[^/]*\.so(\.\d+)?$|^\/lib[^/]*\/ld[^/]*\.so/.test(path))
    return known('ld.so', 'loads a program');
  const tool = PROJECT_TOOL.exec(word)?.[4];
  if (tool !== undefined && findRule(tool)?.tool === true) return known(tool, 'is not a known program');
  return { kind: 'unknown', why: 'runs a program from a file that nobody read' };
}

function known(name: string, why: string): Program {
  const form = findRule(name) ?? (/^mkfs\./.test(name) ? findRule('mkfs') : versioned(name));
  return form === undefined ? { kind: 'unknown', why } : { kind: 'known', name, form };
}

/** `python3.12`, `gcc-13`, `pip3.11`, `clang++-17`. */
function versioned(name: string): Form | undefined {
  const plain = name.replace(/-?\d+(\.\d+)*$/, '');
  return plain === name || plain === '' ? undefined : findRule(plain);
}

const defaultWhy: Readonly<Record<CommandClass, string>> = {
  READ_ONLY: 'only reads',
  TEST: 'runs tests or checks',
  BUILD: 'builds',
  MUTATING: 'changes files or runs what nobody read',
  GIT_MUTATION: 'changes the local git repository',
  NETWORK: 'opens a network connection',
  REMOTE_MUTATION: 'changes something outside the sandbox',
  DESTRUCTIVE: 'destroys without a way back',
  PRIVILEGED: 'needs elevated rights',
};

class FormJudge {
  private readonly name: string;
  private readonly setting: Setting;
  private readonly add: (is: CommandClass, why: string, irreversible?: boolean) => void;

  constructor(name: string, setting: Setting, add: FormJudge['add']) {
    this.name = name;
    this.setting = setting;
    this.add = add;
  }

  judge(form: Form, words: readonly Field[]): void {
    if (form.verbs !== undefined || form.forms !== undefined) this.judgeVerb(form, words);
    else this.judgeLeaf(form, words);
  }

  private judgeVerb(form: Form, words: readonly Field[]): void {
    const before = readArguments(words, form, true);
    this.judgeOptions(before.options);
    const verb = before.operands[0];
    if (form.judge !== undefined) judges[form.judge](this.call(form, words, before));
    if (verb === undefined) {
      // `docker --version` is a question whatever docker may do; `sudo --version` is still sudo.
      const asked = before.flags.some((flag) => /^(--version|--help|-h|-V|-v)$/.test(flag)) && form.always !== true;
      const is = asked ? 'READ_ONLY' : (form.bare ?? 'READ_ONLY');
      this.add(is, form.bare === undefined || asked ? 'says what it can do' : (form.why ?? defaultWhy[is]));
      return;
    }
    if (isDynamic(verb)) {
      const other = form.other ?? 'MUTATING';
      this.add(other === 'READ_ONLY' ? 'MUTATING' : other, 'computes the verb that it is given');
      if (verb.optional) this.judgeVerb(form, before.tail.slice(1));
      return;
    }
    const rest = before.tail.slice(1);
    // `cargo +nightly test`: a toolchain is chosen before the verb.
    if (verb.text.startsWith('+')) {
      this.judgeVerb(form, rest);
      return;
    }
    const next = verbForm(form, verb.text);
    if (next === undefined && form.otherRuns === true)
      this.run(findRule(verb.text)?.tool === true ? before.tail : [literal(this.name), literal('run'), ...before.tail]);
    else if (next === undefined)
      this.add(form.other ?? 'MUTATING', `is not known to have a verb ${showWords(verb.text)}`);
    else if (isQuestion(rest) && next.always !== true) this.add('READ_ONLY', 'says what it is');
    else this.judge(next, rest);
  }

  private judgeLeaf(form: Form, words: readonly Field[]): void {
    const { findings } = this.setting;
    const before = findings.count;
    const stopsAtOperand = form.stops === true || form.carries?.as === 'words' || form.carries?.as === 'shell';
    const read = readArguments(words, form, stopsAtOperand);
    if (form.is !== 'READ_ONLY') this.add(form.is, form.why ?? defaultWhy[form.is], form.irreversible);
    this.judgeOptions(read.options);
    if (form.reads) this.judgeReads(form, words, read);
    if (form.writes) this.judgeWrites(read);
    if (form.carries !== undefined) this.judgeCarried(form, read);
    if (form.judge !== undefined) judges[form.judge](this.call(form, words, read));
    if (findings.count === before) this.add(form.is, form.why ?? defaultWhy[form.is]);
  }

  private judgeOptions(options: readonly Option[]): void {
    for (const { effect, value, rest } of options) {
      if (effect.value === 'file' && value !== undefined) {
        const destroyed = whyDestroyed(value.text);
        if (destroyed !== undefined) this.add('DESTRUCTIVE', destroyed);
        // Where nothing is written, nothing happens.
        if (value.text === '-' || value.text === '/dev/null' || value.text === '/dev/stdout') continue;
      }
      this.add(effect.is, effect.why, effect.irreversible);
      if (effect.value === 'shell' && value !== undefined) this.shell(withoutKey(value.text));
      if (effect.value === 'program') this.run(rest);
    }
  }

  private judgeReads(form: Form, words: readonly Field[], read: Arguments): void {
    const pattern =
      form.pattern && !read.flags.some((flag) => /^(-e|-f|--regexp|--file)/.test(flag)) ? read.operands[0] : undefined;
    for (const word of words) {
      if (word === pattern) continue;
      const path = word.text.slice(word.text.startsWith('-') ? word.text.indexOf('=') + 1 : 0);
      // `HEAD:.env` is the same file at a commit.
      const file = path.slice(path.indexOf(':') + 1);
      if (isSecretPath(file) || isSecretPath(path) || isSecretPath(resolvePath(this.setting.scope, path))) {
        this.add('MUTATING', `shows what may be a secret: ${showWords(path)}`);
        return;
      }
    }
  }

  private judgeWrites(read: Arguments): void {
    for (const operand of read.operands) {
      const why = whyDestroyed(resolvePath(this.setting.scope, operand.text));
      if (why !== undefined) this.add('DESTRUCTIVE', why);
    }
  }

  private judgeCarried(form: Form, read: Arguments): void {
    const { carries } = form;
    if (carries === undefined) return;
    let rest: readonly Field[] = read.tail;
    const leave = (): void => {
      // An option has already said what runs.
      if (read.options.some((option) => option.effect.value !== undefined)) return;
      const is = carries.none ?? 'READ_ONLY';
      this.add(is, defaultWhy[is]);
    };
    if (carries.assignments) rest = this.takeAssignments(rest);
    rest = rest.slice(carries.skip ?? 0);
    if (carries.assignments) rest = this.takeAssignments(rest);
    if (rest.length === 0) leave();
    else if (carries.as === 'words') this.run(rest);
    else if (carries.as === 'shell') this.shell(rest.map((word) => word.text).join(' '));
    else for (const operand of read.operands) this.shell(operand.text);
  }

  private takeAssignments(words: readonly Field[]): readonly Field[] {
    const end = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word.text));
    const assigned = words.slice(0, end === -1 ? words.length : end);
    if (assigned.length > 0)
      judges.environment(this.call({ is: 'READ_ONLY' }, assigned, readArguments([], { is: 'READ_ONLY' })));
    return words.slice(assigned.length);
  }

  private run(words: readonly Field[]): void {
    judgeCommand(words, { ...this.setting, depth: this.setting.depth + 1 });
  }

  private shell(text: string, positional?: readonly string[]): void {
    this.setting.shell(text, { ...this.setting, depth: this.setting.depth + 1 }, positional);
  }

  private call(form: Form, words: readonly Field[], read: Arguments): Call {
    return {
      name: this.name,
      form,
      words,
      arguments: read,
      scope: this.setting.scope,
      stdin: this.setting.stdin,
      fed: this.setting.fed,
      add: this.add,
      runUnread: (why) => {
        this.setting.findings.unread += 1;
        this.add('MUTATING', why);
      },
      runWords: (inner) => {
        this.run(inner);
      },
      runShell: (text, positional) => {
        this.shell(text, positional);
      },
    };
  }
}

/** `ProxyCommand=…`, `exec=…` and git's `!…` name the command that follows. */
function withoutKey(value: string): string {
  return value.replace(/^(!|(exec|[A-Za-z]*command|[A-Za-z]*askpass)\s*=\s*)/i, '');
}
