import {
  forEachChild,
  type Assignment,
  type Command,
  type CommandArgument,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import type { CommandClass } from './command-class.ts';
import { findShownSecrets } from './find-shown-secrets.ts';
import { Findings, showWords } from './findings.ts';
import { judgeCommand, type Setting } from './judge-command.ts';
import { addsOwnModules, choosesCode, isCommandVariable, isExpandedVariable } from './judge-environment.ts';
import { noteEvaluated, noteFlow } from './judge-arithmetic.ts';
import { judgeRedirect, readInput, type Note } from './judge-redirect.ts';
import { INNER_COST, INNER_LENGTH_LIMIT, SCRIPT_DEPTH_LIMIT } from './limits.ts';
import { hidesSubstitution } from './read-syntax.ts';
import { ELEMENT, literal, readText, readWord, type Field } from './read-words.ts';
import { assign, childScope, emptyScope, type Scope } from './scope.ts';

export const EVALUATES = 'is a text that nobody read, and arithmetic runs what it holds';

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

/** What a command does: its words, assignments, redirections and environment, and the scripts inside its words. */
export abstract class CommandWalker {
  protected readonly findings: Findings;
  protected place: Place;
  private innerLength = 0;

  constructor(findings: Findings) {
    this.findings = findings;
    this.place = { scope: emptyScope(), scripts: 0, programs: 0, stdin: undefined, fed: false, certain: true };
  }

  protected abstract visit(node: SyntaxNode): void;

  /** Walks the text of a script in the place where the walker stands. */
  protected abstract walkSource(text: string): void;

  protected readonly note: Note = (text, is, why, irreversible = false) => {
    this.findings.add({ command: showWords(text), class: is, why, irreversible });
  };

  protected readonly visitChild = (child: SyntaxNode): void => {
    this.visit(child);
  };

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

  protected visitCommand(node: Command): void {
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

  protected visitRedirect(redirect: Redirection): void {
    forEachChild(redirect, this.visitChild);
    judgeRedirect(redirect, this.place.scope, this.note);
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

  protected visitSubscript(name: string, index: Word | undefined): void {
    if (index === undefined || index.text === '@' || index.text === '*') return;
    if (!this.place.scope.associative.has(name)) this.evaluate([index]);
  }

  protected evaluate(words: readonly Word[]): void {
    if (noteEvaluated(words, this.place.scope))
      this.note(words.map((word) => word.text).join(' '), 'MUTATING', EVALUATES);
  }

  protected visitTested(word: Word): void {
    const text = readText(word, this.place.scope);
    if (hidesSubstitution(text)) this.visitHidden(text);
  }

  /** Text that the shell will evaluate as a subscript: `test -v 'a[$(id)]'`. */
  protected visitHidden(text: string): void {
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
