import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunId } from '@flotilla/contracts/ids';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { call, fault, type FaultReply, type Script } from '@flotilla/testing/scripted-model/script';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calculator, makeSmallRemote } from '../harness/small-remote.ts';
import { describe, payloadOf, startTestFleet, type TestFleet } from '../harness/test-fleet.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { slotsLeft } from './slots-left.ts';

const hostile = [
  'yes | head -c 1000000000',
  'bomb() { bomb | bomb & }; bomb; sleep 1',
  'setsid sh -c "sleep 1000" >/dev/null 2>&1 & echo daemonised',
  'for n in 1 2 3; do fallocate -l 900M big$n; done; echo filled',
  'rm -f big*',
  'mkdir -p $(printf "d/%.0s" $(seq 200))',
  'python3 -c "import shutil; shutil.rmtree(\'d\')"',
];
const engineer = engineerScript({
  edits: [calculator.edit],
  tasks: [
    { goalIncludes: '[hostile]', edits: [calculator.edit], commands: hostile },
    { goalIncludes: '[asleep]', edits: [calculator.edit], commands: ['sleep 600'] },
  ],
});

let fleet: TestFleet;
let directory: string;
let remote: string;
let started: ReadonlyMap<string, number | undefined>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-bad-models-'));
  fleet = await startTestFleet({ script, allInOne: false, settings: { FLOTILLA_SLOTS: '4' } });
  started = new Map([...fleet.fleet.services.processes].map(([name, { pid }]) => [name, pid]));
  remote = await makeSmallRemote(directory, 'shop', calculator.files);
  await fleet.addProject('shop', remote);
});
afterAll(async () => {
  await fleet.close();
  await rm(directory, { recursive: true, force: true });
});

/** What a model answers its planner or executor for ever, by a mark in the goal. */
const faults: Readonly<Record<string, Readonly<Record<string, FaultReply['fault']>>>> = {
  planner: { '[wrong-key]': 'wrong-key', '[unknown-model]': 'unknown-model', '[too-long]': 'too-long' },
  executor: { '[refuses]': 'refusal', '[empty]': 'empty', '[endless]': 'endless-call' },
};

function script(...[conversation, asked]: Parameters<Script>): ReturnType<Script> {
  const goal = conversation.messages[0]?.text ?? '';
  const wrong = Object.entries(faults[conversation.role ?? ''] ?? {}).find(([mark]) => goal.includes(mark));
  if (wrong !== undefined) return fault(wrong[1]);
  const edited = conversation.calls.some(({ tool, status }) => tool === 'fs.edit' && status === 'ok');
  if (conversation.role === 'executor' && edited && goal.includes('[repeats]')) return call('fs.list');
  if (conversation.role === 'executor' && edited && goal.includes('[silent]')) return fault('silent');
  return engineer(conversation, asked);
}

test.for([
  ['[wrong-key]', 'MODEL_CREDENTIAL_REFUSED', 'Set a valid key', 0],
  ['[unknown-model]', 'MODEL_UNKNOWN', 'Set FLOTILLA_MODEL to a model', 0],
  ['[too-long]', 'MODEL_CONTEXT_TOO_LONG', 'Split the task', 0],
  ['[refuses]', 'AGENT_REFUSED', 'Reword the goal', 4],
  ['[empty]', 'AGENT_ANSWER_EMPTY', 'choose a model that supports tool calls', 4],
  ['[endless]', 'AGENT_ANSWER_ENDLESS', 'Choose another model', 4],
] as const)(
  'a model that is %s ends the run as failed, with what to do and what was spent',
  async ([mark, code, advice, turns]) => {
    const run = await fleet.submit('shop', `${mark} ${calculator.goal}`);
    const log = await fleet.finish(run);
    expectFailed(log, code, advice);
    const step = turns === 0 ? 'plan' : 'build';
    const spent = log.filter(({ type, stepId }) => type === 'agent.finished' && stepId === step);
    expect(spent.map(({ payload }) => payload)).toMatchObject([{ spent: { turns, calls: 0 } }]);
    expect(await fleet.client.call('salvageRun', { runId: run })).toMatchObject({ state: 'none' });
    await expectNothingLeft(run);
  },
);

test('commands that take all they can get are told to their model by their cause, and the change is made all the same', async () => {
  const run = await fleet.submit('shop', `[hostile] ${calculator.goal}`);
  const log = await fleet.until(run, 'gate.opened');
  const results = log
    .filter(({ type }) => type === 'tool.finished')
    .map(({ payload }) => payload as { readonly tool: string; readonly result: string })
    .filter(({ tool }) => tool === 'terminal.run')
    .map(({ result }) => result);
  expect(results).toHaveLength(hostile.length);
  expect(results[0]).toMatch(/killed after .*: it printed more than it may/);
  expect(results[2]).toMatch(/exit code 0 .*\ndaemonised/s);
  expect(results[3]).toMatch(/killed after .*: the workspace is over its limit of 2147483648 bytes/);
  expect(results[4]).toMatch(/exit code 0/);
  const nudges = log.filter(({ type }) => type === 'agent.nudge').map(({ payload }) => payload);
  expect(nudges).toContainEqual({
    code: 'WORKSPACE_NOT_KEPT',
    text: expect.stringMatching(/directories nested more than 100 deep/),
  });
  await fleet.client.call('cancelRun', { runId: run });
  await fleet.finish(run);
  await expectNothingLeft(run);
});

test('what an agent had edited is salvaged after its step failed, and after it was cancelled', async () => {
  const repeats = await fleet.submit('shop', `[repeats] ${calculator.goal}`);
  const asleep = await fleet.submit('shop', `[asleep] ${calculator.goal}`);
  expectFailed(await fleet.finish(repeats), 'AGENT_REPEATS_ITSELF', 'Say more precisely');
  await expectSalvaged(repeats);

  await fleet.until(asleep, 'agent.checkpoint');
  await waitForCommand(asleep, 'sleep 600');
  await fleet.client.call('cancelRun', { runId: asleep });
  expect(payloadOf(await fleet.finish(asleep), 'run.ended')).toMatchObject({ result: 'cancelled' });
  await expectSalvaged(asleep);
  await expectNothingLeft(asleep);
});

test('what an agent had edited in mid-step is salvaged though its executor and everything on its disk is gone', async () => {
  const run = await fleet.submit('shop', `[silent] ${calculator.goal}`);
  await fleet.until(run, 'agent.checkpoint');
  await fleet.fleet.services.processes.get('executor')!.kill();
  for (const name of ['mirrors', 'slots', 'setups'])
    await rm(join(fleet.fleet.dataDirectory, name), { recursive: true, force: true });

  await expectSalvaged(run);
  const patch = join(directory, 'work.patch');
  const answer = await flotilla('salvage', run, '--step', 'build', '--out', patch);
  expect(answer.stdout).toContain(`1 file, +1 -1, kept after turn`);
  const copy = join(directory, 'copy');
  await scratchGit(directory, ['clone', '--quiet', remote, copy]);
  await scratchGit(copy, ['apply', patch]);
  expect(await readFile(join(copy, calculator.edit.path), 'utf8')).toContain(calculator.edit.replace);
});

/** The executor was ended by the test before this one. */
test('after all of that every other service is the one that was started, and none has grown', async () => {
  for (const [name, { pid }] of fleet.fleet.services.processes) {
    if (name === 'executor') continue;
    expect(pid, name).toBe(started.get(name));
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]), name).toBeLessThan(500_000);
  }
});

function expectFailed(log: Awaited<ReturnType<TestFleet['finish']>>, code: string, advice: string): void {
  const ended = payloadOf(log, 'run.ended');
  expect(ended, describe(log)).toMatchObject({ result: 'failed', code, advice: expect.stringContaining(advice) });
  expect(String(ended['message'])).toMatch(/\w{3}/);
}

async function expectSalvaged(runId: RunId): Promise<void> {
  const salvaged = await fleet.client.call('salvageRun', { runId });
  expect(salvaged).toMatchObject({ state: 'found', stepId: 'build', files: [{ path: calculator.edit.path }] });
  expect(salvaged.diff).toContain(`+${calculator.edit.replace}`);
}

async function expectNothingLeft(run: RunId): Promise<void> {
  await waitUntil(
    'the slots of the run are gone',
    async () => (await slotsLeft(run, fleet.fleet.dataDirectory)).length === 0,
  );
}

async function waitForCommand(runId: RunId, command: string): Promise<void> {
  await waitUntil(`${command} runs`, async () => {
    const { entries } = await fleet.client.call('listEvents', { runId, type: ['tool.started'], limit: 500 });
    return entries.some(({ payload }) => JSON.stringify(payload).includes(command));
  });
}

async function flotilla(...argv: readonly string[]) {
  return promisify(execFile)(
    process.execPath,
    ['--conditions=@flotilla/source', join(repositoryDirectory, 'services/cli/src/cli.ts'), ...argv],
    { env: { ...process.env, FLOTILLA_URL: fleet.fleet.url, FLOTILLA_TOKEN: fleet.fleet.token }, cwd: directory },
  );
}
