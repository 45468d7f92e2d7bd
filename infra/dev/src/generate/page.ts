/** A file that is generated: never edited by hand. */
export interface Page {
  /** Path from the root of the clone. */
  readonly path: string;
  readonly content: string;
}

export const GENERATE_COMMAND = 'npm run generate';

/** A page in Markdown under infra/reference, which says where it comes from. */
export function markdownPage(name: string, title: string, source: string, blocks: readonly string[]): Page {
  const head = `<!-- Generated from ${source} by "${GENERATE_COMMAND}". -->`;
  return { path: `infra/reference/${name}.md`, content: `${[head, `# ${title}`, ...blocks].join('\n\n')}\n` };
}

export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

export function renderJson(value: unknown): string {
  return ['```json', JSON.stringify(value, undefined, 2), '```'].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
