import { expect, test } from 'vitest';
import { defaultAgentSettings } from './agent-settings.ts';
import type { ModelPart, ModelToolCall } from './ports.ts';
import { takeTurn } from './take-turn.ts';

const counted = { inputTokens: 10, outputTokens: 5 };

function finishWith(usage: typeof counted): ModelPart {
  return { kind: 'finish', reason: 'toolCalls', usage, microdollars: null, spanAttributes: {} };
}

/** The one turn of a model that answers these parts. */
function turnOf(...parts: readonly ModelPart[]) {
  const model = {
    name: 'in-process',
    spanAttributes: {},
    async *stream() {
      yield* parts;
    },
  };
  const request = { system: 'Be brief.', messages: [{ role: 'user' as const, text: 'x'.repeat(391) }], tools: [] };
  const onBroken = () => Promise.reject(new Error('the answer broke off'));
  return takeTurn(1, request, { model, clock: { now: () => 0 } }, ['fs.write'], defaultAgentSettings, onBroken);
}

async function callOf(given: ModelToolCall['arguments']) {
  const call = { kind: 'toolCall', id: 'p', name: 'fs__write', arguments: given } as const;
  return (await turnOf(call, finishWith(counted))).calls[0];
}

const parsed = (value: Readonly<Record<string, unknown>>) => ({ kind: 'parsed', value }) as const;

function nested(depth: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

test('arguments are kept as they were given', async () => {
  const value = { path: 'a', content: 'ä 漢字 🚀', deep: nested(90) };
  expect(await callOf(parsed(value))).toEqual({ callId: '1.0', tool: 'fs.write', arguments: value });
});

test.each([
  ['ten megabytes', parsed({ content: 'x'.repeat(10_000_000) }), 'longer than 1000000 characters'],
  ['lists in lists without end', parsed({ content: nested(100_000) }), 'nested too deeply'],
  ['a NUL', parsed({ content: 'a\0b' }), 'NUL'],
  ['half a character', parsed({ '\ud800': 1 }), 'half of one'],
  ['no JSON', { kind: 'unreadable', text: '{'.repeat(1_000_000), reason: 'Unexpected \0' } as const, 'Unexpected'],
])('of arguments of %s only the beginning is kept, and why', async (_, given, reason) => {
  const call = await callOf(given);
  expect(call?.malformed).toContain(reason);
  expect(call?.malformed).not.toContain('\0');
  expect(JSON.stringify(call).length).toBeLessThan(10_000);
});

test('the tokens that an endpoint counts are those that are spent; where it counts none they are estimated', async () => {
  const text = { kind: 'text', text: 'y'.repeat(80) } as const;
  expect(await turnOf(text, finishWith(counted))).toMatchObject(counted);
  const uncounted = finishWith({ inputTokens: 0, outputTokens: 0 });
  expect(await turnOf(text, uncounted)).toMatchObject({ inputTokens: 100, outputTokens: 20 });
});
