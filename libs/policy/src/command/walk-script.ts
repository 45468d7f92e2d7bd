import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type CommandArgument,
  type Function as ShellFunction,
  type ParsedScript,
  type Pipeline,
  type Redirected,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type TestExpression,
  type Word,
} from 'unbash';
import type { CommandClass } from './command-class.ts';
import { findShownSecrets } from './find-shown-secrets.ts';
import { Findings, HOLE, LimitReached, PARTS_LIMIT, showWords } from './findings.ts';
import { judgeCommand, type Setting } from './judge-command.ts';
import { addsOwnModules, choosesCode, isCommandVariable, isExpandedVariable } from './judge-environment.ts';
import { findEvaluatedText, noteEvaluated, noteExpression, noteFlow, noteOutput } from './judge-arithmetic.ts';
import { judgeRedirect, readInput, type Note } from './judge-redirect.ts';
import {
  INNER_COST,
  INNER_LENGTH_LIMIT,
  NESTED_FUNCTIONS,
  NESTING_COST_LIMIT,
  NESTING_LIMIT,
  NODE_DEPTH_LIMIT,
  NODES_LIMIT,
  RESTARTS_LIMIT,
  SCRIPT_DEPTH_LIMIT,
  SUBSHELL_COST,
} from './limits.ts';
import { measureNesting } from './measure-nesting.ts';
import { multipliesItself } from './multiplies-itself.ts';
import { hidesSubstitution, looksLikeCommand, restAfterError } from './read-syntax.ts';
import { ELEMENT, literal, readPrinted, readText, readWord, type Field } from './read-words.ts';
import { assign, childScope, emptyScope, subshellScope, type Scope } from './scope.ts';

/** Walks a whole script and adds what it finds; a limit that is reached is a finding. */
export function walkText(text: string, findings: Findings): void {
  new Walker(findings).walkTop(text);
}

const EVALUATES = 'is a text that nobody read, and arithmetic runs what it holds';

interface Place {
  readonly scope: Scope;
  /** Substitutions around, and programs around (`sh -c` in `env`). */
  readonly scripts: number;
  readonly programs: number;
  readonly stdin: string | undefined;
  readonly fed: boolean;
  /** False where what stands here may not be reached. */
  readonly certain: boolean;
}

class Walker {
  private readonly findings: Findings;
  private innerLength = 0;
  private nodes = 0;
  private nodeDepth = 0;
  private place: Place;

  constructor(findings: Findings) {
    this.findings = findings;
    this.place = { scope: emptyScope(), scripts: 0, programs: 0, stdin: undefined, fed: false, certain: true };
  }

  walkTop(text: string): void {
    try {
      this.walkSource(text);
      const evaluated = findEvaluatedText(this.place.scope.arithmetic);
      if (evaluated !== undefined) this.note(evaluated, 'MUTATING', EVALUATES);
    } catch (error) {
      if (error instanceof LimitReached) this.note(text, 'MUTATING', 'has more parts than are judged', true);
      else this.note(text, 'MUTATING', 'could not be read', true);
    }
  }

  private readonly note: Note = (text, is, why, irreversible = false) => {
    this.findings.add({ command: showWords(text), class: is, why, irreversible });
  };

  private walkSource(text: string, attempts = 0): void {
    const nesting = measureNesting(text);
    if (nesting > NESTING_LIMIT || nesting * text.length > NESTING_COST_LIMIT || NESTED_FUNCTIONS.test(text)) {
      this.note(text, 'MUTATING', 'nests more expansions than are followed', true);
      return;
    }
    const script = parse(text);
    this.walkScript(script, text);
    const rest = restAfterError(script, text);
    if (rest !== undefined && attempts < RESTARTS_LIMIT) this.walkSource(rest, attempts + 1);
  }

  private walkScript(script: ParsedScript | undefined, text: string): void {
    if (script === undefined) {
      this.note(text, 'MUTATING', 'has a substitution that could not be read');
      return;
    }
    if (script.errors !== undefined && script.errors.length > 0)
      this.note(text, 'MUTATING', `is no whole command: ${script.errors[0]?.message ?? 'it could not be read'}`);
    for (const statement of script.commands) this.visit(statement);
  }

  private visit(node: SyntaxNode): void {
    this.nodes += 1;
    if (this.nodes > NODES_LIMIT || this.findings.count > PARTS_LIMIT) throw new LimitReached();
    if (this.nodeDepth >= NODE_DEPTH_LIMIT) throw new LimitReached();
    this.nodeDepth += 1;
    this.visitNode(node);
    this.nodeDepth -= 1;
  }

  private readonly visitChild = (child: SyntaxNode): void => {
    this.visit(child);
  };

  private visitNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'Command':
        this.visitCommand(node);
        return;
      case 'Pipeline':
        this.visitPipeline(node);
        return;
      case 'Statement':
        this.visitStatement(node);
        return;
      case 'Subshell':
      case 'Coproc':
        this.within('subshell', () => {
          forEachChild(node, this.visitChild);
        });
        return;
      case 'AndOr':
      case 'If':
      case 'While':
      case 'Case':
      case 'ArithmeticFor':
        this.within('branch', () => {
          forEachChild(node, this.visitChild);
        });
        return;
      case 'Function':
        this.visitFunction(node);
        return;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        if (node.type === 'ArithmeticCommandExpansion' && noteOutput(node, this.place.scope))
          this.note(node.text, 'MUTATING', EVALUATES);
        this.visitSubstitution(node.script, node.text);
        return;
      case 'Redirected':
        this.visitRedirected(node);
        return;
      case 'For':
      case 'Select':
        for (const word of node.wordlist ?? []) {
          for (const field of readWord(word, this.place.scope)) assign(this.place.scope, node.name.value, field.text);
        }
        noteFlow(node.name.value, node.wordlist ?? [], this.place.scope);
        if (node.wordlist === undefined) assign(this.place.scope, node.name.value, HOLE);
        if (choosesCode(node.name.value, HOLE))
          this.note(node.name.value, 'MUTATING', 'is set, and decides which code other programs run');
        this.within('branch', () => {
          forEachChild(node, this.visitChild);
        });
        return;
      case 'ParameterExpansion':
        if (node.operation?.type === 'Default' && node.operation.operator.endsWith('='))
          noteFlow(node.parameter, [node.operation.operand], this.place.scope);
        this.visitSubscript(node.parameter, node.index);
        if (
          node.operation?.type === 'Default' &&
          node.operation.operator.endsWith('=') &&
          choosesCode(node.parameter, HOLE)
        )
          this.note(node.parameter, 'MUTATING', 'is set, and decides which code other programs run');
        forEachChild(node, this.visitChild);
        return;
      case 'Slice':
        this.evaluate(node.length === undefined ? [node.offset] : [node.offset, node.length]);
        forEachChild(node, this.visitChild);
        return;
      case 'Transform':
        if (/[PAaKk]/.test(node.operand.text))
          this.note(`@${node.operand.text}`, 'MUTATING', 'expands a value as a program');
        forEachChild(node, this.visitChild);
        return;
      case 'ArithmeticCommand':
        if (looksLikeCommand(node.body) || !/[=<>!?]|\+\+|--/.test(node.body)) this.visitAsSubshell(node.body);
        forEachChild(node, this.visitChild);
        return;
      case 'ArithmeticExpansion':
        if (looksLikeCommand(node.text)) this.visitAsSubshell(node.text.slice(3, -2));
        forEachChild(node, this.visitChild);
        return;
      case 'ArithmeticWord':
        if (hidesSubstitution(node.value)) this.visitHidden(node.value);
        if (noteExpression(node.value, node.parts ?? [], this.place.scope))
          this.note(node.value, 'MUTATING', EVALUATES);
        forEachChild(node, this.visitChild);
        return;
      case 'TestLogical':
        // A shell without `[[` runs what stands after the operator.
        if (node.operator === '||') for (const operand of node.operands.slice(1)) this.visitOperand(operand);
        forEachChild(node, this.visitChild);
        return;
      case 'TestUnary':
        this.visitTested(node.operand);
        if (/^-[vR]$/.test(node.operator) && /[[$`]/.test(node.operand.text)) this.evaluate([node.operand]);
        forEachChild(node, this.visitChild);
        return;
      case 'TestBinary':
        this.visitTested(node.left);
        this.visitTested(node.right);
        if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) this.evaluate([node.left, node.right]);
        forEachChild(node, this.visitChild);
        return;
      case 'AnsiCQuoted':
        // A shell without this quoting ends the string at the first quote, escaped or not.
        if (node.text.includes("\\'")) this.note(node.text, 'MUTATING', 'is read differently by different shells');
        return;
      case 'ExtendedGlob':
        if (/[:'"`+{]/.test(node.pattern)) this.note(node.text, 'MUTATING', 'is a pattern that some shells run');
        forEachChild(node, this.visitChild);
        return;
      case 'Word':
        if (node.parts !== undefined) forEachChild(node, this.visitChild);
        return;
      case 'Names':
      case 'Unknown':
        if (node.type === 'Unknown') this.note(node.operator, 'MUTATING', 'is an expansion that is not known');
        return;
      default:
        forEachChild(node, this.visitChild);
    }
  }

  /** What was fetched and is run at once is what nobody has read: no mode covers it. */
  private visitStatement(node: Statement): void {
    const { networks, unread } = this.findings;
    this.within(node.background === true ? 'subshell' : 'here', () => {
      this.visit(node.command);
    });
    if (this.findings.networks > networks && this.findings.unread > unread)
      this.note('what it fetched', 'NETWORK', 'runs without anyone having read it', true);
  }

  /** Visits in a process of its own, or where nobody knows whether it is reached. */
  private within(where: 'here' | 'branch' | 'subshell', visit: () => void): void {
    const outer = this.place;
    if (where === 'branch') this.place = { ...outer, certain: false };
    if (where === 'subshell') this.place = { ...outer, scope: subshellScope(outer.scope) };
    visit();
    this.place = outer;
  }

  private visitRedirected(node: Redirected): void {
    const outer = this.place;
    this.place = { ...outer, ...readInput(node.redirects, outer.scope, outer) };
    this.visit(node.command);
    this.place = outer;
    for (const redirect of node.redirects) this.visitRedirect(redirect);
  }

  private visitSubstitution(script: ParsedScript | undefined, text: string): void {
    const outer = this.place;
    if (outer.scripts >= SCRIPT_DEPTH_LIMIT) {
      this.note(text, 'MUTATING', 'nests more substitutions than are followed', true);
      return;
    }
    this.place = { ...outer, scripts: outer.scripts + 1, stdin: undefined, scope: subshellScope(outer.scope) };
    this.walkScript(script, text);
    this.place = outer;
  }

  private visitPipeline(node: Pipeline): void {
    const outer = this.place;
    for (const [index, command] of node.commands.entries()) {
      const before = node.commands[index - 1];
      if (node.commands.length > 1) this.place = { ...outer, scope: subshellScope(outer.scope) };
      if (before !== undefined) this.place = { ...this.place, fed: true, stdin: this.printed(before) };
      this.visit(command);
    }
    this.place = outer;
  }

  /** What a command at the head of a pipe prints, where that can be told. */
  private printed(node: Pipeline['commands'][number]): string | undefined {
    if (node.type !== 'Command') return undefined;
    const { scope } = this.place;
    if (node.name?.text === 'cat' && node.args.length === 0) return readInput(node.redirects, scope, this.place).stdin;
    return readPrinted(node, scope);
  }

  private visitFunction(node: ShellFunction): void {
    const { scope } = this.place;
    const name = node.name.value;
    scope.functions.set(name, { node, certain: this.place.certain });
    if (multipliesItself(node.body, name)) this.note(name, 'DESTRUCTIVE', 'is a function that multiplies itself');
    const outer = this.place;
    scope.calling.add(name);
    this.place = { ...outer, stdin: undefined, certain: false, scope: childScope(scope, undefined) };
    this.visit(node.body);
    this.place = outer;
    scope.calling.delete(name);
  }

  /** Judges a call of a function of the script; false where a program may be meant. */
  private callFunction(name: string, words: readonly Field[]): boolean {
    const { scope, programs } = this.place;
    const known = scope.functions.get(name);
    if (known === undefined) return false;
    this.note(name, 'READ_ONLY', 'is a function of this script');
    if (words.length === 0 || scope.calling.has(name) || programs > SCRIPT_DEPTH_LIMIT) return known.certain;
    const outer = this.place;
    scope.calling.add(name);
    const positional = [name, ...words.map((word) => word.text)];
    this.place = { ...outer, programs: programs + 1, scope: childScope(scope, positional) };
    this.visit(known.node.body);
    this.place = outer;
    scope.calling.delete(name);
    return known.certain;
  }

  private visitCommand(node: Command): void {
    const assigned = node.prefix.filter((each) => each.type === 'Assignment');
    this.noteDeclared(node);
    for (const each of assigned) this.visitAssignment(each);
    for (const redirect of node.redirects) this.visitRedirect(redirect);
    if (node.name !== undefined) this.visit(node.name);
    for (const argument of node.args) {
      if (argument.type === 'Assignment') this.visitAssignment(argument);
      else this.visit(argument);
    }
    const before = this.findings.takeClasses();
    if (node.name !== undefined) {
      this.judgeWords(node, [node.name, ...node.args]);
      this.judgeAfterAmpersand(node);
    } else if (assigned.length > 0 || node.redirects.length > 0)
      this.note(showAll(node), 'READ_ONLY', 'starts no program');
    const own = [...this.findings.classes];
    this.findings.giveBackClasses(before);
    for (const each of assigned) this.judgeEnvironment(each, node.name === undefined ? [] : own);
  }

  /** `ls &>f sudo id` is two commands for a shell that does not know `&>`. */
  private judgeAfterAmpersand(node: Command): void {
    const place = node.suffix.findIndex((each) => each.type === 'Redirect' && each.operator.startsWith('&>'));
    const after = node.suffix.slice(place + 1).filter((each) => each.type === 'Word');
    if (place !== -1 && after.length > 0) this.judgeWords(node, after);
  }

  private judgeWords(node: Command, written: readonly CommandArgument[]): void {
    const { scope } = this.place;
    const input = readInput(node.redirects, scope, this.place);
    const setting: Setting = {
      findings: this.findings,
      scope,
      depth: this.place.programs,
      stdin: input.stdin,
      fed: input.fed,
      shell: (text, inner, positional) => {
        this.walkInner(text, inner, positional);
      },
    };
    scope.choice = 0;
    scope.widest = 1;
    for (let choice = 0; choice < scope.widest; choice += 1) {
      scope.choice = choice;
      const words = this.readFields(written);
      if (words[0] !== undefined && /^(echo|printf|cat)$/.test(words[0].text)) {
        for (const name of findShownSecrets(node, scope))
          this.note(`$${name}`, 'MUTATING', 'shows what may be a secret');
      }
      const { widest } = scope;
      const [name, ...rest] = words;
      if (name === undefined || !this.callFunction(name.text, rest)) judgeCommand(words, setting);
      scope.widest = Math.max(scope.widest, widest);
    }
    scope.choice = 0;
  }

  private readFields(written: readonly CommandArgument[]): readonly Field[] {
    const { scope } = this.place;
    return written.flatMap((word) => {
      if (word.type === 'Word') return readWord(word, scope);
      return [literal(`${word.name}${word.append ? '+' : ''}=${readAssigned(word, scope)}`)];
    });
  }

  /** A script inside a program's words or input. */
  private walkInner(text: string, setting: Setting, positional: readonly string[] | undefined): void {
    this.innerLength += text.length + INNER_COST;
    if (this.innerLength > INNER_LENGTH_LIMIT || setting.depth > SCRIPT_DEPTH_LIMIT) {
      this.note(text, 'MUTATING', 'wraps more than is followed', true);
      return;
    }
    const outer = this.place;
    const { scope } = setting;
    const inner = positional === undefined ? scope : childScope(scope, positional);
    const { choice, widest } = scope;
    this.place = {
      scope: inner,
      scripts: outer.scripts,
      programs: setting.depth,
      stdin: setting.stdin,
      fed: setting.fed,
      certain: false,
    };
    this.walkSource(text);
    this.place = outer;
    scope.choice = choice;
    scope.widest = widest;
  }

  private visitAssignment(node: Assignment): void {
    forEachChild(node, this.visitChild);
    const { scope } = this.place;
    const value = readAssigned(node, scope);
    const known = scope.variables.get(node.name)?.[0];
    assign(scope, node.name, node.append && known !== undefined ? `${known}${value}` : value);
    if (hidesSubstitution(value)) this.visitHidden(value);
    if (node.index !== undefined) this.visitTested(node.index);
    this.visitSubscript(node.name, node.index);
    noteFlow(node.name, node.value.type === 'Word' ? [node.value] : node.value.elements, scope);
  }

  private judgeEnvironment(node: Assignment, own: readonly CommandClass[]): void {
    const value = readAssigned(node, this.place.scope);
    if (!choosesCode(node.name, value)) return;
    if (addsOwnModules(node.name, value) && own.length > 0 && own.every((each) => each === 'TEST' || each === 'BUILD'))
      return;
    this.note(node.text, 'MUTATING', 'sets a variable that decides which code other programs run');
    if (isCommandVariable(node.name)) this.walkValue(value);
    if (isExpandedVariable(node.name)) this.walkValue(`: "${value.replaceAll('"', '\\"')}"`);
  }

  private walkValue(text: string): void {
    const { scope, programs, stdin, fed } = this.place;
    this.walkInner(
      text.replace(/^[|!]+-?/, ''),
      {
        findings: this.findings,
        scope,
        depth: programs + 1,
        stdin,
        fed,
        shell: (inner, setting, positional) => {
          this.walkInner(inner, setting, positional);
        },
      },
      undefined,
    );
  }

  private visitRedirect(redirect: Redirection): void {
    forEachChild(redirect, this.visitChild);
    judgeRedirect(redirect, this.place.scope, this.note);
  }

  /** `((rm -rf x))` is arithmetic for one shell and a subshell in a subshell for another. */
  private visitAsSubshell(body: string): void {
    if (!/[A-Za-z]/.test(body) || body.length > 512) return;
    this.nodes += SUBSHELL_COST;
    const findings = new Findings();
    new Walker(findings).walkTop(body);
    for (const each of findings.shown) {
      if (['NETWORK', 'REMOTE_MUTATION', 'DESTRUCTIVE', 'PRIVILEGED'].includes(each.class)) this.findings.add(each);
    }
  }

  /** What `let` and `declare` say of variables: values of an integer are evaluated, subscripts of an associative array are not. */
  private noteDeclared({ name, args }: Command): void {
    if (name?.value === 'let') this.evaluate(args.filter((each) => each.type === 'Word'));
    if (!/^(declare|typeset|local|export|readonly)$/.test(name?.value ?? '')) return;
    const { scope, certain } = this.place;
    const declares = (flag: RegExp): boolean => args.some((each) => flag.test(each.text));
    const names = args.map((each) => /^[A-Za-z_]\w*/.exec(each.text)?.[0]).filter((each) => each !== undefined);
    for (const each of names) {
      if (declares(/^-[a-zA-Z]*i/)) scope.arithmetic.evaluated.add(each);
      if (declares(/^-[a-zA-Z]*A/) && certain) scope.associative.add(each);
    }
  }

  private visitSubscript(name: string, index: Word | undefined): void {
    if (index === undefined || index.text === '@' || index.text === '*') return;
    if (!this.place.scope.associative.has(name)) this.evaluate([index]);
  }

  private evaluate(words: readonly Word[]): void {
    if (noteEvaluated(words, this.place.scope))
      this.note(words.map((word) => word.text).join(' '), 'MUTATING', EVALUATES);
  }

  private visitOperand(operand: TestExpression): void {
    if (operand.type === 'TestUnary') this.visitAsSubshell(readText(operand.operand, this.place.scope));
    else if (operand.type === 'TestBinary') this.visitAsSubshell(readText(operand.left, this.place.scope));
  }

  private visitTested(word: Word): void {
    const text = readText(word, this.place.scope);
    if (hidesSubstitution(text)) this.visitHidden(text);
  }

  /** Text that the shell will evaluate as a subscript: `test -v 'a[$(id)]'`. */
  private visitHidden(text: string): void {
    this.note(text, 'MUTATING', 'holds a substitution that arithmetic runs');
    this.walkValue(`: "${text.replaceAll('"', '\\"')}"`);
  }
}

function readAssigned(node: Assignment, scope: Scope): string {
  if (node.value.type === 'Word') return readText(node.value, scope);
  return node.value.elements.flatMap((element) => readWord(element, scope).map((field) => field.text)).join(ELEMENT);
}

function showAll(node: Command): string {
  return node.prefix.map((each) => (each.type === 'Assignment' ? each.text : each.operator)).join(' ');
}
