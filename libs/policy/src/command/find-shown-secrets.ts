import type { Command } from 'unbash';
import { isSecretVariable } from './judge-paths.ts';
import type { Scope } from './scope.ts';

/**
 * Variables with the name of a credential that a command would print: `echo "$API_TOKEN"` shows one as surely as a file of them
 * does. What the script itself has set is no secret.
 */
export function findShownSecrets(node: Command, scope: Scope): readonly string[] {
  const strings = node.redirects.flatMap((each) =>
    each.type === 'HereString' && each.target !== undefined ? [each.target.text] : [],
  );
  return [...node.args.map((argument) => argument.text), ...strings]
    .filter((text) => text.includes('$'))
    .flatMap((text) => [...withoutSingleQuotes(text).matchAll(/\$\{?([A-Za-z_]\w*)/g)].map((match) => match[1] ?? ''))
    .filter((name) => isSecretVariable(name) && !scope.variables.has(name));
}

function withoutSingleQuotes(text: string): string {
  let result = '';
  let double = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === '\\') {
      index += 1;
      continue;
    }
    if (character === '"') double = !double;
    if (character === "'" && !double) {
      const end = text.indexOf("'", index + 1);
      if (end === -1) break;
      index = end;
      continue;
    }
    result += character;
  }
  return result;
}
