import { z } from 'zod';
import { defineTool, type ToolContext, type ToolResult } from '../define-tool.ts';
import { runCommand, toToolResult } from '../run-command.ts';
import { path } from './arguments.ts';

const timeoutMs = 60_000;

/** In the slot, on its throw-away repository: whatever a hook or a config there does stays there. */
const git = ['git', '--no-pager', '-c', 'core.quotePath=false'];

async function runGit(argv: readonly string[], context: ToolContext): Promise<ToolResult> {
  return toToolResult(await runCommand({ argv: [...git, ...argv] }, timeoutMs, context), false);
}

export const gitStatus = defineTool({
  id: 'git.status',
  summary: 'Says which files were changed, added or deleted since this step began.',
  parameters: z.strictObject({}),
  mutates: false,
  paths: () => [],
  describe: () => '',
  run: (_, context) => runGit(['status', '--porcelain=v1', '--untracked-files=all'], context),
});

export const gitDiff = defineTool({
  id: 'git.diff',
  summary: 'Shows what was changed since this step began, new files included.',
  parameters: z.strictObject({ path: path.optional().describe('Only this file or directory.') }),
  mutates: false,
  paths: (args) => (args.path === undefined ? [] : [args.path]),
  describe: (args) => args.path ?? '',
  async run(_, context) {
    const [only = '.'] = context.paths;
    // Names new files in the index, so that the diff shows them; their content is not staged.
    await runCommand({ argv: [...git, 'add', '--intent-to-add', '--', only] }, timeoutMs, context);
    return runGit(['diff', '--no-ext-diff', '--no-textconv', '--no-color', 'HEAD', '--', only], context);
  },
});

export const gitLog = defineTool({
  id: 'git.log',
  summary: 'Shows the commits of the workspace, newest first. The history of the project is not in it.',
  parameters: z.strictObject({ limit: z.int().min(1).max(100).optional().describe('Default 20.') }),
  mutates: false,
  paths: () => [],
  describe: () => '',
  run: ({ limit = 20 }, context) =>
    runGit(['log', `--max-count=${limit}`, '--no-color', '--format=%h %ad %an %s', '--date=short'], context),
});
