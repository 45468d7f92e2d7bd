import { expect, test } from 'vitest';
import { JournalView } from './journal-facts.ts';
import type { JournalEntry } from './ports.ts';
import { renderTranscript } from './render-transcript.ts';

const spent = { turns: 1, calls: 0, tokens: 2, microdollars: null, seconds: 0 };

function turnOf(turn: number, result: string, given: object = { path: 'a' }): readonly JournalEntry[] {
  const callId = `${turn}.0`;
  return [
    {
      type: 'agent.turn',
      payload: {
        turn,
        model: 'm',
        text: `turn ${turn}`,
        calls: [{ callId, tool: 'fs.read', arguments: given }],
        finish: 'toolCalls',
        spent,
        inputTokens: 1,
        outputTokens: 1,
        durationMs: 0,
      },
    },
    {
      type: 'tool.finished',
      payload: { callId, tool: 'fs.read', ok: true, result, changedFiles: false, durationMs: 0 },
    },
  ];
}

function factsOf(entries: readonly JournalEntry[]) {
  const view = new JournalView();
  view.add(entries);
  return view.facts;
}

test('every call has its result right after its turn, and what the loop said comes after both', () => {
  const nudge: JournalEntry = { type: 'agent.nudge', payload: { code: 'LIMIT_NEAR_TURNS', text: 'Hurry.' } };
  const [turn, finished] = turnOf(1, 'text') as [JournalEntry, JournalEntry];
  expect(renderTranscript('task', factsOf([turn, nudge, finished]), 'n', 1000)).toEqual([
    { role: 'user', text: 'task' },
    {
      role: 'assistant',
      text: 'turn 1',
      calls: [{ id: 'call_1_0', name: 'fs__read', arguments: { kind: 'parsed', value: { path: 'a' } } }],
    },
    {
      role: 'tool',
      callId: 'call_1_0',
      name: 'fs__read',
      text: 'status: ok\n<data-n name="result">\ntext\n</data-n>',
    },
    { role: 'user', text: 'Notice (LIMIT_NEAR_TURNS): Hurry.' },
  ]);
});

test('in a long conversation the oldest results give way, and the recent turns stay whole', () => {
  const entries = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((turn) => turnOf(turn, 'r'.repeat(2000)));
  const messages = renderTranscript('task', factsOf(entries), 'n', 13_000);
  const results = messages
    .filter(({ role }) => role === 'tool')
    .map(({ text }) => text.includes('left out to save space'));
  expect(results).toEqual([true, true, false, false, false, false, false, false]);
  expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(8);
  expect(messages.find(({ text }) => text.includes('left out'))?.text).toMatch(/^status: ok\n/);
});

test('what old calls were given counts, and gives way after the results; its names and the recent turns stay', () => {
  const entries = [1, 2, 3, 4].flatMap((turn) =>
    turnOf(turn, 'r'.repeat(2000), { path: 'a', content: 'c'.repeat(5000) }),
  );
  const rendered = (limit: number) => renderTranscript('task', factsOf(entries), 'n', limit);
  const given = (limit: number) =>
    rendered(limit).flatMap((message) =>
      message.role === 'assistant' ? message.calls.map((call) => JSON.stringify(call.arguments).length) : [],
    );
  const [whole = 0] = given(100_000);
  expect(given(100_000)).toEqual([whole, whole, whole, whole]);
  expect(given(26_000)).toEqual([whole, whole, whole, whole]);
  expect(rendered(26_000).filter(({ text }) => text.includes('left out to save space'))).toHaveLength(2);
  const short = given(10_000);
  expect(short.slice(2)).toEqual([whole, whole]);
  expect(Math.max(...short.slice(0, 2))).toBeLessThan(400);
  expect(rendered(10_000)[1]).toMatchObject({
    calls: [
      { arguments: { kind: 'parsed', value: { path: 'a', content: expect.stringMatching(/^c+\[… 4800 characters/) } } },
    ],
  });
});
