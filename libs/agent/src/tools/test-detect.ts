import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { findTestCommands } from '../find-test-commands.ts';

export const testDetect = defineTool({
  id: 'test.detect',
  summary: 'Says with which command the project is tested.',
  parameters: z.strictObject({}),
  mutates: false,
  paths: () => [],
  describe: () => '',
  async run(_, { checks, workspace }) {
    const found = await findTestCommands(checks, workspace);
    if (found.length === 0)
      return {
        ok: false,
        code: 'NO_TESTS_FOUND',
        text: 'No test command is declared, and none of the known layouts is there.',
      };
    return { ok: true, text: found.map(({ command, framework }) => `${command}  (${framework})`).join('\n') };
  },
});
