import type { AgentOutcome } from '@flotilla/agent/agent-outcome';
import { ChangeLanded, ReviewWritten } from '@flotilla/contracts/events/step-events';
import type { LogEntry } from '@flotilla/contracts/log-entry';
import { RememberStepRequested } from '@flotilla/contracts/messages/remember-step-requested';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError, type ErrorDefinition } from '@flotilla/errors/flotilla-error';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { expect, test } from 'vitest';
import type { ProposedMemory } from './domain/choose-memory.ts';
import { RememberRunHandler, type RunWriter } from './remember-run.handler.ts';

const request = RememberStepRequested.payload.parse(RememberStepRequested.example);
const spent = { turns: 1, calls: 1, tokens: 700, microdollars: null, seconds: 1 };
const memory = { kind: 'learning', title: 'Slugs', text: 'Tests of slugify live in test.js.' } as const;
const written = (memories: readonly ProposedMemory[]): AgentOutcome => ({
  kind: 'finished',
  report: { role: 'scribe', summary: 'Digits are kept.', memories },
  modified: false,
  verified: true,
  spent,
});
const log: readonly LogEntry[] = [ReviewWritten, ChangeLanded].map(({ type, example }, index) => ({
  runId: request.runId,
  sequence: index + 1,
  type,
  payload: example,
  at: '2030-01-01T00:00:00.000Z',
}));

test('the summary and one memory are handed on, and the memory goes to the inbox', async () => {
  const { answer, proposed } = await remember({ write: async () => written([memory, { ...memory, title: 'Other' }]) });
  expect(answer.outcome).toEqual({
    kind: 'done',
    result: { verb: 'remember', summary: 'Digits are kept.', memories: 1 },
  });
  expect(answer.spent).toEqual(spent);
  expect(answer.entries).toEqual([
    { type: 'summary.written', payload: { summary: 'Digits are kept.' } },
    { type: 'memory.proposed', payload: memory },
  ]);
  expect(proposed).toEqual([memory]);
});

test('without a model the summary is made from the log and nothing is proposed', async () => {
  const { answer, proposed } = await remember(undefined);
  expect(answer.outcome).toMatchObject({
    kind: 'done',
    result: { memories: 0, summary: expect.stringContaining('Landed on main') },
  });
  expect(proposed).toEqual([]);
});

test.each<[string, AgentOutcome]>([
  ['reaches its limit', { kind: 'limit_reached', limit: 'tokens', modified: false, spent }],
  ['fails', { kind: 'failed', code: 'X', message: 'x', advice: 'x.', spent }],
])('a model that %s does not keep the run from its summary', async (_, end) => {
  const { answer } = await remember({ write: async () => end });
  expect(answer.outcome).toMatchObject({
    kind: 'done',
    result: { summary: expect.stringContaining('Landed on main') },
  });
  expect(answer.spent).toEqual(spent);
});

test('a model that is not there for long is done without, and one that may come back is waited for', async () => {
  const failing = (definition: ErrorDefinition): RunWriter => ({
    write: () => Promise.reject(new FlotillaError(definition, {})),
  });
  await expect(remember(failing(errors.modelRateLimited), 1)).rejects.toMatchObject({ code: 'MODEL_RATE_LIMITED' });
  expect((await remember(failing(errors.modelRateLimited), 3)).answer.outcome).toMatchObject({ kind: 'done' });
  expect((await remember(failing(errors.modelCredentialRefused), 1)).answer.outcome).toMatchObject({ kind: 'done' });
});

test('a cancelled scribe says so', async () => {
  const { answer } = await remember({ write: async () => ({ kind: 'cancelled', spent }) });
  expect(answer.outcome).toEqual({ kind: 'cancelled' });
});

async function remember(writer: RunWriter | undefined, delivery = 1) {
  const proposed: ProposedMemory[] = [];
  const handler = new RememberRunHandler(
    { read: async () => log },
    { propose: async (_run, _project, memory) => void proposed.push(memory) },
    writer,
  );
  return { answer: await handler.work(request, new MemoryStepContext({ delivery })), proposed };
}
