import type { Redirection } from 'unbash';
import type { CommandClass } from './command-class.ts';
import { isNoFile, isSecretPath, isSocketPath, whyDestroyed } from './judge-paths.ts';
import { readBody, readText } from './read-words.ts';
import { resolvePath, type Scope } from './scope.ts';

export type Note = (text: string, is: CommandClass, why: string, irreversible?: boolean) => void;

/** Where a redirection writes, and what it shows; duplicating a descriptor is nothing. */
export function judgeRedirect(redirect: Redirection, scope: Scope, note: Note): void {
  if (redirect.type === 'HereDoc') {
    if (redirect.closing === undefined) note('<<', 'MUTATING', 'has a here-document without its end');
    return;
  }
  if (redirect.type === 'HereString') return;
  const { operator, target } = redirect;
  if (target === undefined) {
    note(operator, 'MUTATING', 'redirects to nothing');
    return;
  }
  const written = readText(target, scope);
  const shown = `${operator} ${written}`;
  const path = resolvePath(scope, written);
  if ((operator === '>&' || operator === '<&') && /^(\d+-?|-)$/.test(written)) return;
  if (isSocketPath(written)) note(shown, 'NETWORK', 'opens a network connection');
  else if (operator === '<' || operator === '<&') {
    if (isSecretPath(written) || isSecretPath(path)) note(shown, 'MUTATING', 'shows what may be a secret');
  } else {
    const destroyed = whyDestroyed(path);
    if (destroyed !== undefined) note(shown, 'DESTRUCTIVE', destroyed);
    else if (!isNoFile(written)) note(shown, 'MUTATING', 'writes to a file');
  }
}

export interface Input {
  /** What is read from standard input, where that is known. */
  readonly stdin: string | undefined;
  /** True where standard input is a pipe, a file or a text. */
  readonly fed: boolean;
}

/** Standard input after the redirections of a command; the last one counts. */
export function readInput(redirects: readonly Redirection[], scope: Scope, outer: Input): Input {
  let input: Input = { stdin: outer.stdin, fed: outer.fed };
  for (const redirect of redirects) {
    const { descriptor } = redirect;
    if (descriptor !== undefined && !(descriptor.type === 'FileDescriptor' && descriptor.value === 0)) continue;
    if (redirect.type === 'HereDoc')
      input = {
        fed: true,
        stdin: redirect.body.parts === undefined ? redirect.body.text : readBody(redirect.body.parts, scope),
      };
    else if (redirect.type === 'HereString')
      input = { fed: true, stdin: redirect.target === undefined ? undefined : readText(redirect.target, scope) };
    else if (redirect.operator.startsWith('<')) input = { fed: true, stdin: undefined };
  }
  return input;
}
