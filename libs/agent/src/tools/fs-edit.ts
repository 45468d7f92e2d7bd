import { z } from 'zod';
import { defineTool, type ToolResult } from '../define-tool.ts';
import { filePath } from './arguments.ts';
import { decodeText } from './fs-read.ts';
import { limitContent } from './fs-write.ts';

const limitBytes = 4 * 1024 * 1024;

export const fsEdit = defineTool({
  id: 'fs.edit',
  summary: 'Replaces a passage of a file. find must be the exact text, once in the file unless all is true.',
  parameters: z.strictObject({
    path: filePath,
    find: z.string().min(1).max(limitContent),
    replace: z.string().max(limitContent),
    all: z.boolean().optional().describe('Replace every occurrence; default false.'),
  }),
  mutates: true,
  paths: (args) => [args.path],
  describe: (args) => args.path,
  async run({ find, replace, all = false }, { workspace, paths: [file = '.'] }) {
    const { bytes, sizeBytes } = await workspace.read(file, limitBytes);
    const text = bytes.byteLength < sizeBytes ? undefined : decodeText(bytes);
    if (text === undefined)
      return { ok: false, code: 'FILE_NOT_TEXT', text: 'The file holds no text, or too much of it.' };
    const edited = applyEdit(text, find, replace, all);
    if (edited.kind === 'refused') return edited.result;
    await workspace.write(file, edited.text);
    return {
      ok: true,
      text: `Replaced ${edited.count} ${edited.count === 1 ? 'passage' : 'passages'} of ${file}.`,
      changedFiles: true,
    };
  },
});

type Edited =
  | { readonly kind: 'edited'; readonly text: string; readonly count: number }
  | { readonly kind: 'refused'; readonly result: ToolResult };

/** A file with carriage returns is matched by a passage without them, and keeps them. */
export function applyEdit(text: string, find: string, replace: string, all: boolean): Edited {
  const windows = !text.includes(find) && text.includes('\r\n');
  const [wanted, given] = windows ? [withReturns(find), withReturns(replace)] : [find, replace];
  const count = text.split(wanted).length - 1;
  if (count === 0)
    return refuse(
      'EDIT_NOT_FOUND',
      'The passage is not in the file. Read the file again and copy the passage exactly.',
    );
  if (wanted === given) return refuse('EDIT_CHANGES_NOTHING', 'find and replace are equal.');
  if (count > 1 && !all)
    return refuse('EDIT_AMBIGUOUS', `The passage is in the file ${count} times. Add lines around it, or set all.`);
  return { kind: 'edited', text: text.split(wanted).join(given), count };
}

function withReturns(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

function refuse(code: string, text: string): Edited {
  return { kind: 'refused', result: { ok: false, code, text } };
}
