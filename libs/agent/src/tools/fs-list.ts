import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { optionalPath } from './arguments.ts';

const limitEntries = 1000;

export const fsList = defineTool({
  id: 'fs.list',
  summary: 'Lists one directory; directories end in a slash.',
  parameters: z.strictObject({ path: optionalPath }),
  mutates: false,
  paths: (args) => [args.path ?? '.'],
  describe: (args) => args.path ?? '.',
  async run(_, { workspace, paths: [directory = '.'], allowsPath }) {
    const entries = await workspace.list(directory);
    const below = (name: string) => (directory === '.' ? name : `${directory}/${name}`);
    const shown = entries.filter(({ name, kind }) => kind === 'directory' || allowsPath(below(name)));
    const lines = shown
      .slice(0, limitEntries)
      .map(
        ({ name, kind, sizeBytes }) =>
          `${name}${kind === 'directory' ? '/' : kind === 'link' ? '@' : ''}${sizeBytes === undefined || kind !== 'file' ? '' : `  ${sizeBytes} bytes`}`,
      );
    const more = shown.length > limitEntries ? `\n[… ${shown.length - limitEntries} more …]` : '';
    return { ok: true, text: lines.length === 0 ? '[empty]' : `${lines.join('\n')}${more}` };
  },
});
