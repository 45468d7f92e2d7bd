/**
 * The end of a visible text in lines of at most `columns` signs, cut between words where there are any; of more lines than `most`
 * the first is `…`. Blank lines are left out.
 */
export function wrapEnd(text: string, columns: number, most: number): readonly string[] {
  const lines = text.split('\n').flatMap((line) => wrapLine(line.trimEnd(), columns));
  return lines.length <= most ? lines : ['…', ...lines.slice(lines.length - most + 1)];
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let rest = [...line];
  while (rest.length > columns) {
    const blank = rest.slice(0, columns + 1).lastIndexOf(' ');
    const at = blank > 0 ? blank : columns;
    lines.push(rest.slice(0, at).join('').trimEnd());
    rest = [...rest.slice(at).join('').trimStart()];
  }
  return [...lines, rest.join('')].filter((each) => each.trim() !== '');
}
