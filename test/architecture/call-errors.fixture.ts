import { globSync } from 'node:fs';
import { join } from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import ts from 'typescript';

/**
 * The codes that what a handler's text reaches constructs, by the name of its call. Every function and method of this repository that is
 * named on the way is followed; a method of an interface has no text and ends the way, so what stands behind a port is not seen.
 */
export function findReachableErrors(repository: string): ReadonlyMap<string, ReadonlySet<string>> {
  const files = globSync('services/{gateway,merger,router}/src/**/*.ts', { cwd: repository }).filter(
    (path) => !/\.(test|fixture)\.ts$/.test(path),
  );
  const program = ts.createProgram(
    files.map((path) => join(repository, path)),
    {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      customConditions: ['@flotilla/source'],
      allowImportingTsExtensions: true,
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      types: [],
    },
  );
  const checker = program.getTypeChecker();
  const found = new Map<string, ReadonlySet<string>>();
  for (const path of files) {
    const source = program.getSourceFile(join(repository, path));
    if (source !== undefined)
      visit(source, (node) => {
        const handler = handlerOf(node);
        if (handler !== undefined) found.set(handler.call, collectErrors(handler.body, checker));
      });
  }
  return found;
}

/** `serve(RetryRun, …)`, or `retryRun: …` in what `answerQueries` returns. */
function handlerOf(node: ts.Node): { readonly call: string; readonly body: ts.Node } | undefined {
  if (ts.isCallExpression(node) && node.expression.getText() === 'serve') {
    const [call, body] = node.arguments;
    if (call === undefined || body === undefined) return undefined;
    const name = call.getText();
    return { call: name.charAt(0).toLowerCase() + name.slice(1), body };
  }
  if (!ts.isPropertyAssignment(node) || !ts.isReturnStatement(node.parent.parent)) return undefined;
  const within = node.parent.parent.parent.parent;
  const answers = ts.isFunctionDeclaration(within) && within.name?.text === 'answerQueries';
  return answers ? { call: node.name.getText(), body: node.initializer } : undefined;
}

function collectErrors(handler: ts.Node, checker: ts.TypeChecker): ReadonlySet<string> {
  const codes = new Set<string>();
  const seen = new Set<ts.Node>();
  const follow = (body: ts.Node): void => {
    if (seen.has(body)) return;
    seen.add(body);
    visit(body, (node) => {
      const code = constructedCode(node);
      if (code !== undefined) codes.add(code);
      if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node))
        for (const next of bodiesOf(node, checker)) follow(next);
    });
  };
  follow(handler);
  return codes;
}

/** Of `new FlotillaError(errors.runUnknown, …)`. */
function constructedCode(node: ts.Node): string | undefined {
  if (!ts.isNewExpression(node) || node.expression.getText() !== 'FlotillaError') return undefined;
  const name = /^errors\.(\w+)$/.exec(node.arguments?.[0]?.getText() ?? '')?.[1];
  return name === undefined ? undefined : Object.entries(errors).find(([key]) => key === name)?.[1].code;
}

function bodiesOf(name: ts.Identifier | ts.PrivateIdentifier, checker: ts.TypeChecker): readonly ts.Node[] {
  const symbol = checker.getSymbolAtLocation(name);
  if (symbol === undefined) return [];
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  return (target.declarations ?? []).flatMap((declaration) => {
    if (declaration.getSourceFile().isDeclarationFile) return [];
    if (ts.isFunctionDeclaration(declaration) || ts.isMethodDeclaration(declaration)) return declaration.body ?? [];
    const constant = ts.isVariableDeclaration(declaration) && declaration.initializer;
    return constant && (ts.isArrowFunction(constant) || ts.isFunctionExpression(constant)) ? constant.body : [];
  });
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}
