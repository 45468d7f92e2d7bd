import { expect, test } from 'vitest';
import { JournalView, notKeptCode, restoredCode } from './journal-facts.ts';
import type { JournalEntry } from './ports.ts';

const spent = { turns: 1, calls: 0, tokens: 2, microdollars: null, seconds: 0 };

/** A turn of one call that has its result. */
function called(turn: number, tool: string, result: { readonly changedFiles?: boolean; readonly exitCode?: number }) {
  const callId = `${turn}.0`;
  const calls = [{ callId, tool, arguments: {} }];
  const usage = { inputTokens: 1, outputTokens: 1, durationMs: 0 };
  const entries: readonly JournalEntry[] = [
    { type: 'agent.turn', payload: { turn, model: 'm', text: '', calls, finish: 'toolCalls', spent, ...usage } },
    {
      type: 'tool.finished',
      payload: { callId, tool, ok: true, result: '', changedFiles: false, durationMs: 0, ...result },
    },
  ];
  return entries;
}

const wrote = (turn: number) => called(turn, 'fs.write', { changedFiles: true });
const passed = (turn: number) => called(turn, 'test.run', { exitCode: 0 });
const failed = (turn: number) => called(turn, 'test.run', { exitCode: 1 });
const kept = (turn: number): readonly JournalEntry[] => {
  const id = 'a'.repeat(40) as never;
  return [{ type: 'agent.checkpoint', payload: { turn, commit: id, tree: id, bundle: 'b' } }];
};
const told = (code: string): readonly JournalEntry[] => [{ type: 'agent.nudge', payload: { code, text: code } }];

function factsOf(...entries: readonly (readonly JournalEntry[])[]) {
  const view = new JournalView();
  view.add(entries.flat());
  return view.facts;
}

test.each([
  ['nothing was changed', [], { modified: false, tested: false }],
  ['a file was changed', [wrote(1)], { modified: true, tested: false }],
  ['the tests passed after it', [wrote(1), passed(2)], { modified: true, tested: true }],
  ['the tests failed after it', [wrote(1), failed(2)], { modified: true, tested: false }],
  ['they passed and then failed', [wrote(1), passed(2), failed(3)], { tested: false }],
  ['a file was changed after them', [wrote(1), passed(2), wrote(3)], { modified: true, tested: false }],
  ['a checkpoint was taken after them', [wrote(1), passed(2), kept(2)], { modified: true, tested: true }],
  [
    'they passed on what a restored workspace no longer holds',
    [wrote(1), kept(1), wrote(2), passed(3), told(restoredCode)],
    { modified: true, tested: false, unkept: [] },
  ],
  ['nothing of the change was kept', [wrote(1), passed(2), told(restoredCode)], { modified: false, tested: false }],
])('when %s, that is what the journal tells', (_, entries, facts) => {
  expect(factsOf(...entries)).toMatchObject(facts);
});

test('a workspace that could not be kept is unkept, and there is nothing new to keep until another call', () => {
  expect(factsOf(wrote(1), told(notKeptCode))).toMatchObject({ unkept: ['1.0'], unkeepable: 1 });
  expect(factsOf(wrote(1), told(notKeptCode), wrote(2))).toMatchObject({ unkept: ['1.0', '2.0'], unkeepable: 1 });
  expect(factsOf(wrote(1), told(notKeptCode), wrote(2), kept(2))).toMatchObject({ unkept: [], unkeepable: 0 });
  expect(factsOf(wrote(1), told(notKeptCode), told(restoredCode))).toMatchObject({ unkept: [], unkeepable: 0 });
});
