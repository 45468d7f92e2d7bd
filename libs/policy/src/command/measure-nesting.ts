/**
 * How deep the expansions of a text may nest at most, counted without knowing its quotes: each opening counts, unless it is
 * closed again by its own character with neither a quote, a backslash, a `case` nor another opening between. Linear in the text.
 * Backquotes do not count: each level of them needs twice the backslashes of the one around it.
 */
export function measureNesting(text: string): number {
  const open: string[] = [];
  let left = 0;
  let plain = true;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    const closing = closingOf(character, text[index + 1]);
    if (closing !== undefined) {
      open.push(closing);
      plain = true;
      start = index;
    } else if (character === "'" || character === '"' || character === '\\') plain = false;
    else if (character === open.at(-1)) {
      open.pop();
      // The parentheses of a `case` close nothing.
      if (!plain || text.slice(start, index).includes('case')) left += 1;
      plain = false;
    }
  }
  return left + open.length;
}

function closingOf(character: string, next: string | undefined): string | undefined {
  if (character === '$' && next === '{') return '}';
  if (character === '$' && next === '[') return ']';
  if (next === '(' && (character === '$' || character === '<' || character === '>' || character === '(')) return ')';
  return undefined;
}
