import { z } from 'zod';
import { defineTool } from '../define-tool.ts';
import { findTestCommands } from '../find-test-commands.ts';
import { describeResult, runCommand } from '../run-command.ts';
import { toModelName } from '../tool-names.ts';

const timeoutMs = 900_000;

/** Whatever its text says, only the recorded exit code of this tool counts as evidence that the tests passed. */
export const testRun = defineTool({
  id: 'test.run',
  summary: `Runs the tests of the project, with the command that ${toModelName('test.detect')} names. Needed after your last change.`,
  parameters: z.strictObject({}),
  mutates: true,
  paths: () => [],
  describe: () => '',
  async run(_, context) {
    const found = await findTestCommands(context.checks, context.workspace);
    if (found.length === 0)
      return {
        ok: false,
        code: 'NO_TESTS_FOUND',
        text: 'No test command is declared, and none of the known layouts is there.',
      };
    const texts: string[] = [];
    for (const { command } of found) {
      const result = await runCommand({ shell: command }, timeoutMs, context);
      texts.push(`$ ${command}\n${describeResult(result)}`);
      if (result.exitCode !== 0 || result.timedOut)
        return { ok: true, text: texts.join('\n\n'), exitCode: result.timedOut ? 124 : (result.exitCode ?? 137) };
    }
    return { ok: true, text: texts.join('\n\n'), exitCode: 0 };
  },
});
