import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { optionalPath } from './arguments.ts';

const limitMatches = 200;
const limitLine = 400;

export const fsGrep = defineTool({
  id: 'fs.grep',
  summary: 'Searches the text of files and answers path:line: text. Literal unless regex is true.',
  parameters: z.strictObject({
    pattern: z.string().min(1).max(512),
    regex: z.boolean().optional().describe('Default false.'),
    ignore_case: z.boolean().optional().describe('Default false.'),
    path: optionalPath,
    glob: z.string().min(1).max(256).optional().describe('Only files whose path matches, for example **/*.py.'),
  }),
  mutates: false,
  paths: (args) => [args.path ?? '.'],
  describe: (args) => args.pattern,
  async run(
    { pattern, regex = false, ignore_case: ignoreCase = false, glob },
    { workspace, paths: [directory = '.'], allowsPath },
  ) {
    const search = {
      pattern,
      regex,
      ignoreCase,
      path: directory,
      limit: limitMatches,
      ...(glob === undefined ? {} : { glob }),
    };
    const { items, truncated } = await workspace.grep(search);
    const lines = items
      .filter(({ path }) => allowsPath(path))
      .map(({ path, line, text }) => `${path}:${line}: ${text.slice(0, limitLine)}`);
    const more = truncated ? `\n[only the first ${limitMatches} are shown]` : '';
    return { ok: true, text: lines.length === 0 ? '[no match]' : `${lines.join('\n')}${more}` };
  },
});
