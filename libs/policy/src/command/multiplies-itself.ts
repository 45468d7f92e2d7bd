import { forEachChild, type SyntaxNode } from 'unbash';

const NODES_LIMIT = 2000;

/** True where a function calls itself twice in a pipe, or in the background: a fork bomb. A plain recursion is none. */
export function multipliesItself(body: SyntaxNode, name: string): boolean {
  let nodes = 0;
  const multiplies = (node: SyntaxNode, background: boolean): boolean => {
    nodes += 1;
    if (nodes > NODES_LIMIT || node.type === 'Word' || node.type === 'HereDoc') return false;
    if (background && isCall(node, name)) return true;
    if (node.type === 'Pipeline' && node.commands.filter((each) => isCall(each, name)).length > 1) return true;
    const below = background || (node.type === 'Statement' && node.background === true);
    let found = false;
    forEachChild(node, (child) => {
      found ||= multiplies(child, below);
    });
    return found;
  };
  return multiplies(body, false);
}

function isCall(node: SyntaxNode, name: string): boolean {
  return node.type === 'Command' && node.name?.text === name;
}
