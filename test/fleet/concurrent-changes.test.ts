import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { makeSmallRemote } from './harness/small-remote.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from './harness/test-fleet.ts';

let fleet: TestFleet;
let directory: string;

const sameLine = (word: string, other: string) => ({
  goalIncludes: `greets with ${word}`,
  edits: [
    { path: 'greeting.js', find: "'hello'", replace: `'hello ${word}'` },
    { path: 'greeting.js', find: `'hello ${other}'`, replace: `'hello ${other} ${word}'` },
  ],
});
const ownFile = (name: string) => ({
  goalIncludes: `counts in ${name}`,
  edits: [{ path: `${name}.js`, find: 'return 0', replace: 'return 1' }],
});

const both = {
  goalIncludes: 'counts in both',
  edits: ['left.js', 'right.js'].map((path) => ({ path, find: 'return 0', replace: 'return 1' })),
};

const rivals = [
  { goalIncludes: 'raises up', edits: [{ path: 'up.js', find: 'return 0', replace: 'return 1' }] },
  {
    goalIncludes: 'raises down',
    edits: [
      { path: 'down.js', find: 'return 0', replace: 'return 1' },
      // What it finds only once the other has landed.
      { path: 'up.js', find: 'return 1', replace: 'return 0' },
    ],
  },
];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-concurrent-'));
  fleet = await startTestFleet({
    script: engineerScript({
      edits: [],
      tasks: [sameLine('dear', 'old'), sameLine('old', 'dear'), ownFile('left'), ownFile('right'), both, ...rivals],
    }),
  });
});

afterAll(async () => {
  await fleet.close();
  await rm(directory, { recursive: true, force: true });
});

test('of two tasks that touch the same line one lands, the other comes back to its author as a conflict and lands after', async () => {
  const remote = await makeRemote('same');
  await fleet.addProject('same', remote);
  const runs = [
    await fleet.submit('same', 'It greets with dear words.'),
    await fleet.submit('same', 'It greets with old words.'),
  ];
  await Promise.all(runs.map((run) => fleet.until(run, 'gate.opened')));
  const logs = await Promise.all(runs.map((run) => fleet.finish(run)));

  for (const log of logs)
    expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  const conflicts = logs.map(
    (log) =>
      log.filter(
        ({ type, payload }) => type === 'step.completed' && JSON.stringify(payload).includes('"kind":"conflict"'),
      ).length,
  );
  expect(conflicts.toSorted()).toEqual([0, 1]);
  const text = await scratchGit(remote, ['show', 'main:greeting.js']);
  expect(text).toMatch(/dear/);
  expect(text).toMatch(/old/);
});

test('two tasks that touch different files land one after the other, each on a tree that was tested', async () => {
  const remote = await makeRemote('different');
  await fleet.addProject('different', remote);
  const runs = [
    await fleet.submit('different', 'It counts in left.'),
    await fleet.submit('different', 'It counts in right.'),
  ];
  await Promise.all(runs.map((run) => fleet.until(run, 'gate.opened')));
  const logs = await Promise.all(runs.map((run) => fleet.finish(run)));

  const landed = logs.map((log) => payloadOf<{ tree: string; commit: string }>(log, 'change.landed'));
  for (const [index, log] of logs.entries()) {
    const tested = log
      .filter(({ type }) => type === 'checks.passed')
      .map(({ payload }) => (payload as { tree: string }).tree);
    expect(tested).toContain(landed[index]!.tree);
  }
  const head = await scratchGit(remote, ['rev-parse', 'main']);
  expect(landed.map(({ commit }) => commit)).toContain(head);
  for (const { commit } of landed) await scratchGit(remote, ['merge-base', '--is-ancestor', commit, 'main']);
  for (const name of ['left', 'right'])
    expect(await scratchGit(remote, ['show', `main:${name}.js`])).toContain('return 1');
});

test('a quick fix lands without a plan, with the same checks and the same gate', async () => {
  const remote = await makeRemote('quick');
  await fleet.addProject('quick', remote);
  const run = await fleet.submit('quick', 'It counts in left.', { topology: 'quick_fix' as never });
  const log = await fleet.finish(run);
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  expect(log.filter(({ type }) => type === 'plan.written')).toEqual([]);
  expect(payloadOf<{ by: string }>(log, 'gate.decided').by).toBe('local');
  expect(payloadOf<{ tree: string }>(log, 'checks.passed').tree).toBe(
    payloadOf<{ tree: string }>(log, 'change.landed').tree,
  );
});

test('a change that breaks the checks only together with what landed meanwhile goes back to its author and never lands broken', async () => {
  const remote = await makeSmallRemote(directory, 'together', {
    'up.js': 'exports.up = () => {\n  return 0;\n};\n',
    'down.js': 'exports.down = () => {\n  return 0;\n};\n',
    'test.js': "const assert = require('assert');\nassert.ok(require('./up').up() + require('./down').down() < 2);\n",
  });
  await fleet.addProject('together', remote);
  const first = await fleet.submit('together', 'It raises up.');
  const second = await fleet.submit('together', 'It raises down.');
  await Promise.all([first, second].map((run) => fleet.until(run, 'gate.opened')));
  expect(payloadOf<{ result: string }>(await fleet.finish(first), 'run.ended').result).toBe('landed');
  const log = await fleet.finish(second);

  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  expect(log.filter(({ type, stepId }) => type === 'checks.failed' && stepId === 'verify')).toHaveLength(1);
  expect(await scratchGit(remote, ['show', 'main:up.js'])).toContain('return 0');
  expect(await scratchGit(remote, ['show', 'main:down.js'])).toContain('return 1');
});

test('a change of which somebody else landed a part is asked about again, with the diff of the very commit and why', async () => {
  const remote = await makeRemote('part');
  await fleet.addProject('part', remote);
  const runId = await fleet.submit('part', 'It counts in both.');
  await fleet.until(runId, 'gate.opened');
  const other = join(directory, 'part');
  await writeFile(join(other, 'left.js'), 'exports.left = () => {\n  return 1;\n};\n');
  await scratchGit(other, ['commit', '--all', '--message', 'Count in left']);
  await scratchGit(other, ['push', remote, 'HEAD:main']);
  await fleet.approve(runId);
  await fleet.until(runId, 'change.merged');
  const { gates } = await vi.waitUntil(
    async () => {
      const answer = await fleet.client.call('listGates', { runId });
      return answer.gates.length > 0 ? answer : false;
    },
    { timeout: 30_000, interval: 100 },
  );

  const [gate] = gates;
  const shown = await fleet.client.call('showDiff', { runId });
  expect(shown).toMatchObject({ state: 'proposed', commit: gate?.change.commit, base: gate?.change.base });
  expect(shown.diff).toContain('right.js');
  expect(shown.diff).not.toContain('left.js');
  expect(gate?.question).toContain('Asked again');
  const log = await fleet.finish(runId);
  expect(payloadOf<{ commit: string }>(log, 'change.landed').commit).toBe(shown.commit);
});

function makeRemote(name: string): Promise<string> {
  return makeSmallRemote(directory, name, {
    'greeting.js': "exports.greet = () => 'hello';\n",
    'left.js': 'exports.left = () => {\n  return 0;\n};\n',
    'right.js': 'exports.right = () => {\n  return 0;\n};\n',
    'test.js':
      "const assert = require('assert');\nassert.match(require('./greeting').greet(), /^hello/);\nassert.ok([0, 1].includes(require('./left').left()));\nassert.ok([0, 1].includes(require('./right').right()));\n",
  });
}
