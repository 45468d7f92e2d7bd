import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { filePath } from './arguments.ts';

export const fsDelete = defineTool({
  id: 'fs.delete',
  summary: 'Deletes one file.',
  parameters: z.strictObject({ path: filePath }),
  mutates: true,
  paths: (args) => [args.path],
  describe: (args) => args.path,
  async run(_, { workspace, paths: [file = '.'] }) {
    await workspace.delete(file);
    return { ok: true, text: `Deleted ${file}.`, changedFiles: true };
  },
});
