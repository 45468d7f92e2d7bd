import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { runCommand, toToolResult } from '../run-command.ts';

const defaultSeconds = 120;
const maxSeconds = 600;

export const terminalRun = defineTool({
  id: 'terminal.run',
  summary:
    'Runs a shell command in the workspace. Nothing is kept between commands but files; there is no terminal to answer questions.',
  parameters: z.strictObject({
    command: z.string().min(1).max(16_000),
    timeout_seconds: z
      .int()
      .min(1)
      .max(maxSeconds)
      .optional()
      .describe(`Default ${defaultSeconds}, at most ${maxSeconds}.`),
  }),
  mutates: true,
  paths: () => [],
  command: (args) => args.command,
  describe: (args) => args.command,
  run: async ({ command, timeout_seconds: timeout = defaultSeconds }, context) =>
    toToolResult(await runCommand({ shell: command }, timeout * 1000, context), true),
});
