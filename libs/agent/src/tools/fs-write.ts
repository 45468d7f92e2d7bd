import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { toModelName } from '../tool-names.ts';
import { filePath } from './arguments.ts';

export const limitContent = 500_000;

export const fsWrite = defineTool({
  id: 'fs.write',
  summary: `Writes a whole file, new or not. To change a part of a file, use ${toModelName('fs.edit')}.`,
  parameters: z.strictObject({ path: filePath, content: z.string().max(limitContent) }),
  mutates: true,
  paths: (args) => [args.path],
  describe: (args) => args.path,
  async run({ content }, { workspace, paths: [file = '.'] }) {
    const created = await workspace.write(file, content);
    return {
      ok: true,
      text: `${created ? 'Created' : 'Replaced'} ${file}, ${content.length} characters.`,
      changedFiles: true,
    };
  },
});
