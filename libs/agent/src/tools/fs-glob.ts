import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { optionalPath } from './arguments.ts';

const limitFiles = 500;

export const fsGlob = defineTool({
  id: 'fs.glob',
  summary: 'Finds files by a glob on their path relative to the workspace, for example src/**/*.ts.',
  parameters: z.strictObject({ pattern: z.string().min(1).max(256), path: optionalPath }),
  mutates: false,
  paths: (args) => [args.path ?? '.'],
  describe: (args) => args.pattern,
  async run({ pattern }, { workspace, paths: [directory = '.'], allowsPath }) {
    const { items, truncated } = await workspace.glob(pattern, { path: directory, limit: limitFiles });
    const found = items.filter(allowsPath);
    const more = truncated ? `\n[only the first ${limitFiles} are shown]` : '';
    return { ok: true, text: found.length === 0 ? '[no file matches]' : `${found.join('\n')}${more}` };
  },
});
