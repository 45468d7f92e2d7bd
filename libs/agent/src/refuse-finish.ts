import type { AgentSettings } from './agent-settings.ts';
import type { Verification } from './decide-next.ts';
import type { ToolResult } from './define-tool.ts';
import { testRunId, type JournalFacts } from './journal-facts.ts';
import type { HandInPort, JournalEntry } from './ports.ts';
import { toModelName } from './tool-names.ts';

const handInRefused = 'HAND_IN_REFUSED';

export interface FinishFacts {
  readonly facts: JournalFacts;
  readonly verification: Verification;
  /** Commands of the project's tests; empty where it has none, or where this step may not run them. */
  readonly commands: readonly string[];
  readonly settings: AgentSettings;
}

export interface FinishRefusal {
  readonly result: ToolResult;
  readonly entry?: JournalEntry;
}

/** Work that changed files is not handed in before the tests passed after the last change, as far as there are tests. */
export function decideFinish({ facts, verification, commands, settings }: FinishFacts): FinishRefusal | undefined {
  if (verification === 'off' || !facts.modified || facts.tested || commands.length === 0) return undefined;
  if (verification === 'auto' && facts.finishRefusals >= settings.fixCycles) return undefined;
  const command = commands.join(' && ');
  return {
    result: {
      ok: false,
      code: 'TESTS_NOT_PASSED',
      text: `Files were changed and the tests have not passed since. Call ${toModelName(testRunId)}, which runs: ${command}. Make it pass, then finish.`,
    },
    entry: { type: 'agent.finish_refused', payload: { cycle: facts.finishRefusals + 1, command } },
  };
}

/**
 * A workspace that cannot be handed in is the model's to put right, as often as a failing test is; after that the work is
 * over, and the step fails with what is wrong.
 */
export async function refuseHandIn(
  handIn: HandInPort | undefined,
  { turns }: JournalFacts,
  { fixCycles }: AgentSettings,
): Promise<FinishRefusal | undefined> {
  const refusals = turns.flatMap(({ calls }) => calls).filter(({ finished }) => finished?.code === handInRefused);
  if (refusals.length >= fixCycles) return undefined;
  const text = await handIn?.();
  return text === undefined ? undefined : { result: { ok: false, code: handInRefused, text } };
}
