import {
  forEachChild,
  parse,
  type Function as ShellFunction,
  type ParsedScript,
  type Pipeline,
  type Redirected,
  type Statement,
  type SyntaxNode,
  type TestExpression,
} from 'unbash';
import { Findings, HOLE, LimitReached, PARTS_LIMIT } from './findings.ts';
import { choosesCode } from './judge-environment.ts';
import { findEvaluatedText, noteExpression, noteFlow, noteOutput } from './judge-arithmetic.ts';
import { readInput } from './judge-redirect.ts';
import {
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
import { readPrinted, readText, readWord } from './read-words.ts';
import { assign, childScope, subshellScope } from './scope.ts';
import { CommandWalker, EVALUATES } from './walk-commands.ts';

/** Walks a whole script and adds what it finds; a limit that is reached is a finding. */
export function walkText(text: string, findings: Findings): void {
  new Walker(findings).walkTop(text);
}

/** What the syntax of a script does around its commands. */
class Walker extends CommandWalker {
  private nodes = 0;
  private nodeDepth = 0;

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

  protected override walkSource(text: string, attempts = 0): void {
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

  protected override visit(node: SyntaxNode): void {
    this.nodes += 1;
    if (this.nodes > NODES_LIMIT || this.findings.count > PARTS_LIMIT) throw new LimitReached();
    if (this.nodeDepth >= NODE_DEPTH_LIMIT) throw new LimitReached();
    this.nodeDepth += 1;
    this.visitNode(node);
    this.nodeDepth -= 1;
  }

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

  private visitOperand(operand: TestExpression): void {
    if (operand.type === 'TestUnary') this.visitAsSubshell(readText(operand.operand, this.place.scope));
    else if (operand.type === 'TestBinary') this.visitAsSubshell(readText(operand.left, this.place.scope));
  }
}
