import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { carefulWorker, newWorld, ProcessDied, restoreWorld, startProcess, type World } from './crash.fixture.ts';
import type { ModelPart } from './ports.ts';
import { runAgent, type AgentInput } from './run-agent.ts';

const words = ['one', 'two', 'three'];
const input: AgentInput = {
  task: { role: 'executor', goal: 'Write the words.', feedback: [] },
  grants: { 'fs.read': true, 'terminal.run': true, 'test.run': true },
  mode: 'auto',
  allowance: { turns: 100, calls: 300, tokens: 1_000_000, microdollars: 1_000_000, seconds: 600 },
  verification: 'required',
  checks: ['test'],
  nonce: 'n1',
  signal: new AbortController().signal,
};

type Workspace = 'restored' | 'kept';

/** Runs processes one after the other, each dying at its tick, and a last one that lives; returns its outcome. */
async function runThroughDeaths(world: World, workspace: Workspace, deaths: readonly number[]) {
  for (const death of deaths) {
    const { ports } = startProcess(world, carefulWorker(words), death);
    const ended = await runAgent({ ...input, workspace }, ports).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof ProcessDied)) throw error;
        return false;
      },
    );
    if (workspace === 'restored' && !ended) restoreWorld(world);
  }
  return runAgent({ ...input, workspace }, startProcess(world, carefulWorker(words)).ports);
}

function expectWhole(world: World, outcome: Awaited<ReturnType<typeof runAgent>>) {
  expect(outcome).toMatchObject({ kind: 'finished', modified: true, verified: true });
  expect(world.files.get('log')?.trim().split('\n').sort()).toEqual([...words].sort());
  const count = (type: string, callId: string) =>
    world.journal.filter((entry) => entry.type === type && 'callId' in entry.payload && entry.payload.callId === callId)
      .length;
  const turns = world.journal.flatMap((entry) => (entry.type === 'agent.turn' ? [entry.payload] : []));
  expect(turns.map(({ turn }) => turn)).toEqual(turns.map((_, index) => index + 1));
  for (const { callId } of turns.flatMap(({ calls }) => calls)) {
    expect(count('tool.started', callId)).toBeLessThanOrEqual(1);
    expect(count('tool.finished', callId)).toBeLessThanOrEqual(1);
  }
  expect(world.journal.filter(({ type }) => type === 'agent.finished')).toHaveLength(1);
  expect(outcome.spent).toMatchObject({
    turns: turns.length,
    tokens: turns.length * 15,
    microdollars: turns.length * 7,
  });
}

async function countTicks(): Promise<number> {
  const process = startProcess(newWorld({ 'a.txt': 'a' }), carefulWorker(words));
  await runAgent(input, process.ports);
  return process.ticks();
}

test.each(['kept', 'restored'] as const)(
  'killed once at any use of any port, the next process ends the work with every deed done once (workspace %s)',
  async (workspace) => {
    const ticks = await countTicks();
    expect(ticks).toBeGreaterThan(60);
    for (let death = 0; death < ticks; death += 1) {
      const world = newWorld({ 'a.txt': 'a' });
      expectWhole(world, await runThroughDeaths(world, workspace, [death]));
    }
  },
);

test.each(['kept', 'restored'] as const)(
  'killed again and again, the work still ends with every deed done once (workspace %s)',
  async (workspace) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 60 }), { maxLength: 12 }), async (deaths) => {
        const world = newWorld({ 'a.txt': 'a' });
        expectWhole(world, await runThroughDeaths(world, workspace, deaths));
      }),
      { numRuns: 150 },
    );
  },
);

test('a call that dies with its process every time is no repetition of the model', async () => {
  const world = newWorld({ 'a.txt': 'a' });
  expectWhole(world, await runThroughDeaths(world, 'restored', [39, 27, 27, 31, 31, 31, 31, 31, 31]));
});

test('the same journal gives the same conversation in every process', async () => {
  const world = newWorld({ 'a.txt': 'a' });
  const asked: string[] = [];
  const recording = (request: Parameters<ReturnType<typeof carefulWorker>>[0]) => {
    asked.push(JSON.stringify([request.system, request.messages, request.tools]));
    return carefulWorker(words)(request);
  };
  await runAgent({ ...input, workspace: 'kept' }, startProcess(world, recording, 40).ports).catch(() => undefined);
  const lastAsked = asked.at(-1);
  const lastTurn = world.journal.findLastIndex(({ type }) => type === 'agent.turn');
  world.journal.splice(lastTurn);
  await runAgent({ ...input, workspace: 'kept' }, startProcess(world, recording).ports);
  expect(asked.slice(1).includes(lastAsked ?? '')).toBe(true);
  expect(asked.filter((each) => each === lastAsked)).toHaveLength(2);
});

test('a journal entry that cannot be read stops the step instead of being passed over', async () => {
  const world = newWorld({});
  world.journal.push({ type: 'tool.started', payload: { callId: 1 } } as never);
  await expect(runAgent(input, startProcess(world, carefulWorker(words)).ports)).rejects.toMatchObject({
    code: 'JOURNAL_UNREADABLE',
  });
});

test('what answers that broke off cost is spent, also for the process that comes after, so that limits hold', async () => {
  const world = newWorld({ 'a.txt': 'a' });
  let asked = 0;
  const { ports } = startProcess(world, () => []);
  const model = {
    ...ports.model,
    priceOf: ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
      inputTokens + outputTokens,
    async *stream(): AsyncIterable<ModelPart> {
      asked += 1;
      yield { kind: 'text', text: 'x'.repeat(4_000) };
      throw new FlotillaError(errors.modelStreamCut, { provider: 'p', model: 'm', address: 'a', reason: 'cut' });
    },
  };
  const work = (allowance: Partial<AgentInput['allowance']>) =>
    runAgent({ ...input, allowance: { ...input.allowance, ...allowance } }, { ...ports, model });
  await expect(work({ tokens: 2_500 })).rejects.toMatchObject({ code: 'MODEL_STREAM_CUT' });
  expect(asked).toBe(3);
  expect(await work({ tokens: 2_500 })).toMatchObject({ kind: 'limit_reached', limit: 'tokens', spent: { turns: 0 } });
  expect(asked).toBe(3);
});
