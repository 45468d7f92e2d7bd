import type { AgentSettings } from './agent-settings.ts';
import type { Verification } from './decide-next.ts';
import type { ToolResult } from './define-tool.ts';
import type { JournalFacts } from './journal-facts.ts';
import type { JournalEntry } from './ports.ts';

export interface FinishFacts {
  readonly facts: JournalFacts;
  readonly verification: Verification;
  /** Commands of the project's tests; empty where it has none, or where this step may not run them. */
  readonly commands: readonly string[];
  readonly settings: AgentSettings;
}

/** Work that changed files is not handed in before the tests passed after the last change, as far as there are tests. */
export function decideFinish({
  facts,
  verification,
  commands,
  settings,
}: FinishFacts): { readonly result: ToolResult; readonly entry: JournalEntry } | undefined {
  if (verification === 'off' || !facts.modified || facts.tested || commands.length === 0) return undefined;
  if (verification === 'auto' && facts.finishRefusals >= settings.fixCycles) return undefined;
  const command = commands.join(' && ');
  return {
    result: {
      ok: false,
      code: 'TESTS_NOT_PASSED',
      text: `Files were changed and the tests have not passed since. Call test__run, which runs: ${command}. Make it pass, then finish.`,
    },
    entry: { type: 'agent.finish_refused', payload: { cycle: facts.finishRefusals + 1, command } },
  };
}
