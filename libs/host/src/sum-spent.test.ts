import type { LogEntry } from '@flotilla/contracts/log-entry';
import { expect, test } from 'vitest';
import { sumSpent } from './sum-spent.ts';

const entry = (type: string, payload: unknown) => ({ type, payload }) as LogEntry;
const turn = (tokens: number, microdollars: number | null) =>
  entry('agent.turn', {
    turn: 1,
    model: 'm',
    text: '',
    calls: [],
    finish: 'stop',
    spent: { turns: 1, calls: 9, tokens, microdollars, seconds: 1 },
    inputTokens: 1,
    outputTokens: 1,
    durationMs: 1,
  });
const call = entry('tool.started', { callId: '1.0', tool: 'fs.read', summary: '' });

test('turns and the calls that began are summed, and an unknown price stays unknown', () => {
  expect(sumSpent([turn(10, 5), call, turn(20, null), call, call])).toEqual({
    turns: 2,
    calls: 3,
    tokens: 30,
    microdollars: null,
    seconds: 2,
  });
});

test('an answer that broke off is no turn, and what it cost is spent', () => {
  const spent = { turns: 0, calls: 0, tokens: 30, microdollars: 7, seconds: 1 };
  const broken = entry('agent.turn_broken', { turn: 2, model: 'm', code: 'MODEL_STREAM_CUT', spent });
  expect(sumSpent([turn(10, 5), broken])).toEqual({ turns: 1, calls: 0, tokens: 40, microdollars: 12, seconds: 2 });
});

test('the loop that ended has the last word', () => {
  const spent = { turns: 3, calls: 4, tokens: 5, microdollars: 6, seconds: 7 };
  expect(
    sumSpent([turn(10, 5), call, entry('agent.finished', { outcome: 'finished', verified: true, spent })]),
  ).toEqual(spent);
});
