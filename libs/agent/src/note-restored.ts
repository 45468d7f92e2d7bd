import { describeInterrupted, describeNotRun } from './call-entries.ts';
import type { Tool } from './define-tool.ts';
import { restoredCode, type JournalFacts } from './journal-facts.ts';
import type { JournalEntry } from './ports.ts';
import { toModelName } from './tool-names.ts';

/**
 * What to write when the workspace was laid anew from the last checkpoint; nothing where nothing came after it. The model
 * is told what is gone, tests that passed then count no more, and what the same turn still wanted is not run, since it
 * was meant for files that are gone.
 */
export function noteRestored(facts: JournalFacts, tools: readonly Tool[]): readonly JournalEntry[] {
  const open = facts.turns.at(-1)?.calls.filter((call) => call.finished === undefined) ?? [];
  const running = open.filter((call) => call.started);
  const changing = running.some((call) => tools.find(({ id }) => id === call.tool)?.mutates !== false);
  if (facts.unkept.length === 0 && !changing) return [];
  const gone = [...facts.unkept, ...running.map(({ callId }) => callId)].map((callId) => nameCall(facts, callId));
  const text = `The work was moved to a new place. What these calls changed is gone: ${gone.join(', ')}. All earlier changes are there. Look at the files before you go on.`;
  return [
    ...running.map((call) => describeInterrupted(call, tools)),
    ...open.filter((call) => !call.started).map(describeNotRun),
    { type: 'agent.nudge', payload: { code: restoredCode, text } },
  ];
}

function nameCall({ turns }: JournalFacts, callId: string): string {
  const call = turns.flatMap(({ calls }) => calls).find((each) => each.callId === callId);
  return call === undefined ? `a call (${callId})` : `${toModelName(call.tool)} (${callId})`;
}
