import { expect, test } from 'vitest';
import { countRepetitions } from './find-repetition.ts';
import { interruptedCode, JournalView, restoredCode } from './journal-facts.ts';
import type { JournalEntry } from './ports.ts';

interface Made {
  readonly path?: string;
  readonly changedFiles?: boolean;
  readonly code?: string;
  /** What the model was told after it. */
  readonly told?: string;
}

const spent = { turns: 1, calls: 0, tokens: 2, microdollars: null, seconds: 0 };

/** One call a turn. */
function count(...made: readonly Made[]): number {
  const view = new JournalView();
  made.forEach(({ path = 'a.txt', changedFiles = false, code, told }, index) => {
    const callId = `${index + 1}.0`;
    const calls = [{ callId, tool: 'fs.read', arguments: { path } }];
    const usage = { inputTokens: 1, outputTokens: 1, durationMs: 0 };
    const turn = { turn: index + 1, model: 'm', text: '', calls, finish: 'toolCalls', spent, ...usage };
    const end = { callId, tool: 'fs.read', ok: code === undefined, result: '', changedFiles, durationMs: 0 };
    const entries: readonly JournalEntry[] = [
      { type: 'agent.turn', payload: turn },
      { type: 'tool.finished', payload: code === undefined ? end : { ...end, code } },
      ...(told === undefined ? [] : [{ type: 'agent.nudge', payload: { code: told, text: told } } as const]),
    ];
    view.add(entries);
  });
  return countRepetitions(view.facts);
}

const same = {};
const other = { path: 'b.txt' };

test.each<[string, readonly Made[], number]>([
  ['nothing was called', [], 0],
  ['the same call was made three times', [same, same, same], 3],
  ['another call between changed nothing', [same, other, same], 2],
  ['another call between changed a file', [same, { ...other, changedFiles: true }, same], 1],
  ['all calls before died with their process', [{ code: interruptedCode }, { code: interruptedCode }, same], 1],
  ['the workspace was laid anew since', [same, { told: restoredCode }, same], 1],
  ['the workspace was laid anew after the last call', [same, { told: restoredCode }], 0],
])('when %s, the last call is counted for as much', (_, made, wanted) => {
  expect(count(...made)).toBe(wanted);
});
