import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runAgent } from '@flotilla/agent/run-agent';
import { expect, onTestFinished, test } from 'vitest';
import { keepDigits, modelAt, openMemoryJournal, portsFor } from './agent.fixture.ts';
import { engineerScript } from './engineer-script.ts';
import { codesOf, finish, inTurn, inputOf, project, run, serve } from './run-scripted.fixture.ts';
import { call, fault, text, type Script } from './script.ts';
import { startScriptedModel } from './start-scripted-model.ts';

/** Ten megabytes are millions of tokens. */
const rich = { ...inputOf().allowance, tokens: 10_000_000 };
const read = (offset: number) => ({ tool: 'fs.read', arguments: { path: 'slugify.js', offset } });

test.each([
  ['turns', { turns: 3 }],
  ['calls', { calls: 2 }],
  ['tokens', { tokens: 2000 }],
  ['seconds', { seconds: 0 }],
] as const)('an allowance of %s ends the loop as a limit, never as success', async (limit, part) => {
  const script: Script = (conversation) =>
    call('fs.read', { path: 'slugify.js', offset: conversation.messages.length });
  const { outcome } = await run(script, { allowance: { ...inputOf().allowance, ...part } });
  expect(outcome).toMatchObject({ kind: 'limit_reached', limit });
});

test('at four fifths of an allowance the model is told, once', async () => {
  const script: Script = (conversation) =>
    call('fs.read', { path: 'slugify.js', offset: conversation.messages.length });
  const { journal } = await run(script, { allowance: { ...inputOf().allowance, turns: 10 } });
  expect(codesOf(journal.entries).filter((code) => code === 'LIMIT_NEAR_TURNS')).toHaveLength(1);
});

test.each([
  [
    'text without a call',
    text('I would do it so.'),
    'AGENT_NO_TOOL_CALL',
    ['NO_TOOL_CALL', 'NO_TOOL_CALL', 'NO_TOOL_CALL'],
  ],
  ['nothing', fault('empty'), 'AGENT_ANSWER_EMPTY', ['ANSWER_EMPTY', 'ANSWER_EMPTY', 'ANSWER_EMPTY']],
  ['a refusal', fault('refusal'), 'AGENT_REFUSED', ['ANSWER_REFUSED', 'ANSWER_REFUSED', 'ANSWER_REFUSED']],
  [
    'text without end',
    fault('endless'),
    'AGENT_ANSWER_ENDLESS',
    ['ANSWER_ENDLESS', 'ANSWER_ENDLESS', 'ANSWER_ENDLESS'],
  ],
  [
    'arguments without end',
    fault('endless-call'),
    'AGENT_ANSWER_ENDLESS',
    ['ANSWER_ENDLESS', 'ANSWER_ENDLESS', 'ANSWER_ENDLESS'],
  ],
  ['a call that the length limit cuts', fault('length'), 'AGENT_CALLS_UNREADABLE', ['CALL_REPEATED']],
  ['calls of no tool', call('do.it'), 'AGENT_CALLS_UNREADABLE', ['CALL_REPEATED']],
  ['arguments that are no JSON', call('fs.read', '{"path'), 'AGENT_CALLS_UNREADABLE', ['CALL_REPEATED']],
] as const)('%s is pointed out and then ends the step', async (_, reply, code, nudges) => {
  const { outcome, journal, server } = await run(() => reply, { settings: { answerCharacters: 20_000 } }, project(), {
    answerLimitBytes: 1_000_000,
  });
  expect(outcome).toMatchObject({ kind: 'failed', code, advice: expect.stringMatching(/retry the run/i) });
  expect(outcome.spent).toMatchObject({ turns: 4, microdollars: null });
  expect(outcome.spent.tokens).toBeGreaterThan(1000);
  expect(server.requests).toHaveLength(4);
  expect(codesOf(journal.entries)).toEqual([...nudges, code]);
});

test('one bad answer among good ones does no harm', async () => {
  const { outcome } = await run(inTurn(text('Hm.'), call('fs.list'), text('Hm.'), call('fs.list'), finish()));
  expect(outcome.kind).toBe('finished');
});

test('the same call again and again is pointed out and then ends the step', async () => {
  const { outcome, journal } = await run(() => call('fs.list'));
  expect(outcome).toMatchObject({ kind: 'failed', code: 'AGENT_REPEATS_ITSELF' });
  expect(codesOf(journal.entries)).toContain('CALL_REPEATED');
});

test.each([['rate-limit'], ['overloaded'], ['server-error'], ['cut'], ['half-call'], ['garbage']] as const)(
  'a provider that fails once with %s is asked again and nothing is lost',
  async (kind) => {
    const script = engineerScript({ edits: [keepDigits] });
    const { outcome, journal } = await run((conversation, asked) =>
      asked === 1 ? fault(kind) : script(conversation, asked),
    );
    expect(outcome).toMatchObject({ kind: 'finished', verified: true });
    expect(journal.entries.filter(({ type }) => type === 'agent.turn')).toHaveLength(outcome.spent.turns);
  },
);

test('a provider that goes on failing throws, and a later process goes on from the journal', async () => {
  const script = engineerScript({ edits: [keepDigits] });
  let down = false;
  const server = await serve((conversation, asked) => {
    const tested = conversation.calls.some(({ tool }) => tool === 'test.run');
    return tested && down ? fault('overloaded') : script(conversation, asked);
  });
  const scratch = project();
  const journal = openMemoryJournal();
  down = true;
  await expect(runAgent(inputOf(), portsFor(scratch, modelAt(server.url), { journal }))).rejects.toMatchObject({
    code: 'MODEL_OVERLOADED',
    remedy: 'retry',
  });
  down = false;
  expect(
    await runAgent(inputOf(), portsFor(scratch, modelAt(server.url), { journal: journal.reopen() })),
  ).toMatchObject({ kind: 'finished', verified: true });
});

test('a call that the length limit cut is told as that, and does not run', async () => {
  const { outcome, results, scratch } = await run(inTurn(fault('length'), finish()));
  expect(outcome).toMatchObject({ kind: 'finished', modified: false });
  expect(results[0]).toMatchObject({
    ok: false,
    code: 'INVALID_ARGUMENTS',
    result: expect.stringMatching(/reached its length limit.*write less in one call/),
  });
  expect(existsSync(join(scratch.root, 'half.txt'))).toBe(false);
});

test('a thousand calls in one answer: the first are run, and the model hears of the others', async () => {
  const many = { kind: 'calls', calls: Array.from({ length: 1000 }, (_, n) => read(n)) } as const;
  const { outcome, journal, results, server } = await run(inTurn(many, finish()));
  expect(outcome).toMatchObject({ kind: 'finished', spent: { turns: 2, calls: 24 } });
  expect(results).toHaveLength(25);
  expect(codesOf(journal.entries)).toEqual(['CALLS_NOT_TAKEN']);
  expect(server.requests[1]?.text).toContain('made 1000 calls. Only the first 24 were taken');
});

test('an argument of ten megabytes is refused with its bound, and little of it is kept', async () => {
  const long = call('fs.write', { path: 'big.txt', content: 'x'.repeat(10_000_000) });
  const { outcome, journal, results, scratch } = await run(inTurn(long, finish()), { allowance: rich });
  expect(outcome).toMatchObject({ kind: 'finished', modified: false, spent: { turns: 2, calls: 1 } });
  expect(results[0]).toMatchObject({
    ok: false,
    code: 'INVALID_ARGUMENTS',
    result: expect.stringContaining('longer than 1000000 characters'),
  });
  expect(JSON.stringify(journal.entries).length).toBeLessThan(20_000);
  expect(existsSync(join(scratch.root, 'big.txt'))).toBe(false);
});

test.each([
  ['mute', 'first byte', 0, { firstByteMs: 150 }],
  // Longer than a busy machine may be held up between two words.
  ['silent', 'idle', 3, { idleMs: 2_000 }],
] as const)(
  'a provider that stays %s is given up with what to do, and what it had said is counted',
  async (kind, phase, broken, timeLimits) => {
    const server = await serve(() => fault(kind));
    const journal = openMemoryJournal();
    const model = modelAt(server.url, { timeLimits, retries: { attempts: 1 } });
    await expect(runAgent(inputOf(), portsFor(project(), model, { journal }))).rejects.toMatchObject({
      code: 'MODEL_TIMED_OUT',
      remedy: 'retry',
      details: { phase },
      advice: expect.stringContaining('retry the run'),
    });
    expect(journal.entries.map(({ type }) => type)).toEqual(Array.from({ length: broken }, () => 'agent.turn_broken'));
  },
);

test('a provider that asks for a longer wait than is made within a call has it told to whoever schedules the step', async () => {
  const server = await serve(() => fault('rate-limit', 3600));
  await expect(runAgent(inputOf(), portsFor(project(), modelAt(server.url)))).rejects.toMatchObject({
    code: 'MODEL_RATE_LIMITED',
    details: { retryAfterMs: 3_600_000 },
    advice: expect.stringContaining('retry the run'),
  });
  expect(server.requests).toHaveLength(1);
});

test.each([
  ['wrong-key', 'MODEL_CREDENTIAL_REFUSED', 'valid key'],
  ['unknown-model', 'MODEL_UNKNOWN', 'Set FLOTILLA_MODEL to a model that'],
] as const)('%s ends the step at the first answer, with what to do', async (kind, code, advice) => {
  const { outcome, server } = await run(() => fault(kind));
  expect(outcome).toMatchObject({ kind: 'failed', code, advice: expect.stringContaining(advice), spent: { turns: 0 } });
  expect(server.requests).toHaveLength(1);
});

test('a key that the provider refuses ends the step with what to do', async () => {
  const server = await startScriptedModel({ script: () => text('never'), apiKey: 'right' });
  onTestFinished(() => server.close());
  const outcome = await runAgent(inputOf(), portsFor(project(), modelAt(server.url)));
  expect(outcome).toMatchObject({
    kind: 'failed',
    code: 'MODEL_CREDENTIAL_REFUSED',
    advice: expect.stringContaining('valid key'),
  });
});

test('cancelling ends a running command at once and the step in order', async () => {
  const server = await serve(inTurn(call('terminal.run', { command: 'touch started; sleep 600' }), finish()));
  const scratch = project();
  const journal = openMemoryJournal();
  const controller = new AbortController();
  const workspace = portsFor(scratch, modelAt(server.url)).workspace;
  const watching: typeof workspace = {
    ...workspace,
    run: (command, options) => {
      const running = workspace.run(command, options);
      controller.abort(new Error('cancelled'));
      return running;
    },
  };
  const signals = {
    cancelled: controller.signal,
    read: () => Promise.resolve({ cancelled: controller.signal.aborted, steering: [] }),
  };
  const outcome = await runAgent(
    inputOf(),
    portsFor(scratch, modelAt(server.url), { journal, workspace: watching, signals }),
  );
  expect(outcome.kind).toBe('cancelled');
  expect(journal.entries.at(-1)).toMatchObject({ type: 'agent.finished', payload: { outcome: 'cancelled' } });
});

test('a lost step throws its reason at once and writes no end', async () => {
  const server = await serve(() => fault('silent'));
  const controller = new AbortController();
  const reason = new Error('the lease is lost');
  const journal = openMemoryJournal();
  const live = { text: () => controller.abort(reason), restart: () => undefined, output: () => undefined };
  await expect(
    runAgent(inputOf({ signal: controller.signal }), portsFor(project(), modelAt(server.url), { journal, live })),
  ).rejects.toBe(reason);
  expect(journal.entries).toEqual([]);
});

test('a conversation that is too long for the model is asked again with less of the past', async () => {
  const scratch = project({ 'a.txt': 'a'.repeat(15_000) });
  const reads: Script = (conversation) => {
    const turn = conversation.messages.filter(({ role }) => role === 'assistant').length;
    const length = conversation.messages.reduce((sum, message) => sum + message.text.length, 0);
    if (length > 60_000) return fault('too-long');
    return turn < 8 ? call('fs.read', { path: 'a.txt', limit: turn + 1 }) : finish();
  };
  const { outcome } = await run(reads, {}, scratch);
  expect(outcome).toMatchObject({ kind: 'finished', spent: { turns: 9 } });
});

test('a conversation that is too long whatever is left out ends the step', async () => {
  const { outcome } = await run(() => fault('too-long'));
  expect(outcome).toMatchObject({ kind: 'failed', code: 'MODEL_CONTEXT_TOO_LONG' });
});
