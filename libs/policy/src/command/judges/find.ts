import type { Call } from '../call.ts';
import { literal, type Field } from '../read-words.ts';
import { isSecretPath, whyDestroyed } from '../judge-paths.ts';

/** `find`: what is run for each file, removed or written; tests and names are data. */
export function judgeFind(call: Call): void {
  const { words } = call;
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.text ?? '';
    if (text === '-delete') call.add('DESTRUCTIVE', 'removes every file it finds');
    else if (/^-(exec|execdir|ok|okdir)$/.test(text)) {
      if (words.some((word) => isSecretPath(word.text))) call.add('MUTATING', 'may show secrets');
      const end = findEnd(words, index + 1);
      const inner = words.slice(index + 1, end);
      if (inner.length === 0) call.add('MUTATING', 'runs nothing that can be read');
      else call.runWords(inner.map(withoutPlaceholder));
      index = end;
    } else if (/^-f(print|printf|print0|ls)$/.test(text)) {
      index += 1;
      const target = words[index]?.text ?? '';
      if (target === '/dev/null' || target === '/dev/stdout') continue;
      call.add('MUTATING', 'writes what it finds to a file');
      const why = whyDestroyed(target);
      if (why !== undefined) call.add('DESTRUCTIVE', why);
    } else if (
      /^-(i?name|i?path|i?regex|i?wholename|i?lname|type|newer\w*|user|group|size|perm|printf|[acm]min|[acm]time|maxdepth|mindepth|regextype|samefile|fstype|inum|links|files0-from)$/.test(
        text,
      )
    )
      index += 1;
  }
}

function findEnd(words: readonly Field[], from: number): number {
  for (let index = from; index < words.length; index += 1) {
    const text = words[index]?.text;
    if (text === ';' || (text === '+' && words[index - 1]?.text.includes('{}'))) return index;
  }
  return words.length;
}

/** The name of a file that is found stands for itself; as a whole command word it is a program nobody knows. */
function withoutPlaceholder(word: Field, place: number): Field {
  return place === 0 && word.text.includes('{}') ? literal('./{}') : word;
}
