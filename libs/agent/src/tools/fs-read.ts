import { z } from 'zod';
import { defineTool, type ToolResult } from '../define-tool.ts';
import { filePath } from './arguments.ts';

const limitBytes = 2 * 1024 * 1024;
const limitLines = 2000;

export const fsRead = defineTool({
  id: 'fs.read',
  summary: 'Reads a text file. Long files are read in parts with offset and limit, in lines.',
  parameters: z.strictObject({
    path: filePath,
    offset: z.int().min(1).optional().describe('First line; default 1.'),
    limit: z.int().min(1).max(limitLines).optional().describe(`Lines; default and at most ${limitLines}.`),
  }),
  mutates: false,
  paths: (args) => [args.path],
  describe: (args) => args.path,
  async run({ offset = 1, limit = limitLines }, { workspace, paths: [file = '.'] }): Promise<ToolResult> {
    const { bytes, sizeBytes } = await workspace.read(file, limitBytes);
    const text = decodeText(bytes);
    if (text === undefined)
      return { ok: false, code: 'FILE_NOT_TEXT', text: `The file holds no text; it has ${sizeBytes} bytes.` };
    const lines = text.split('\n');
    const part = lines.slice(offset - 1, offset - 1 + limit);
    if (part.length === 0) return { ok: false, code: 'OUT_OF_RANGE', text: `The file has ${lines.length} lines.` };
    const whole = part.length === lines.length && bytes.byteLength === sizeBytes;
    const more = sizeBytes > bytes.byteLength ? ` (of ${sizeBytes} bytes only ${bytes.byteLength} are read)` : '';
    const note = whole ? '' : `[lines ${offset} to ${offset + part.length - 1} of ${lines.length}${more}]\n`;
    return { ok: true, text: `${note}${part.join('\n')}` };
  },
});

/** Undefined for bytes that are no UTF-8 text. The end of a part that was cut inside a character is dropped. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
