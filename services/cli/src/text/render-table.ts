/** Columns as wide as their widest cell; the last one takes what is left of the line. Cells are single visible lines. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[], columns: number): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => lengthOf(row[column] ?? ''))));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const last = Math.max(20, columns - before);
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cut(cell, last) : pad(cell, widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cut(cell: string, width: number): string {
  const signs = [...cell];
  return signs.length <= width ? cell : `${signs.slice(0, width - 1).join('')}…`;
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - lengthOf(cell)));
}

function lengthOf(text: string): number {
  return [...text].length;
}
