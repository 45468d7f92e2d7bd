import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headers } from '@flotilla/contracts/headers';
import type { RunId } from '@flotilla/contracts/ids';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { runCommand } from '@flotilla/dev/run-command';
import { connectBroker } from '@flotilla/stream/connect-broker';
import { toNatsHeaders } from '@flotilla/stream/publish-message';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveGit, type GitServer } from '../harness/serve-git.ts';
import { calculator, makeSmallRemote } from '../harness/small-remote.ts';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from '../harness/test-fleet.ts';
import { commitOddEntries, git, listEntries, oddEntries } from './odd-remote.ts';

let fleet: TestFleet;
let directory: string;
let closed: GitServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-remotes-'));
  closed = await serveGit(directory, () => false);
  fleet = await startTestFleet({ script: engineerScript({ edits: [calculator.edit] }) });
});

afterAll(async () => {
  await fleet.close();
  await closed.close();
  await rm(directory, { recursive: true, force: true });
});

/** How a run ended, as `flotilla show` has it. */
async function endOf(runId: RunId) {
  const log = await fleet.finish(runId);
  const { run } = await fleet.client.call('showRun', { runId });
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe(run.result);
  return run;
}

const kinds: readonly (readonly [
  name: string,
  prepare: () => Promise<Record<string, string>>,
  code: string,
  advice: RegExp,
])[] = [
  [
    'that is not there',
    async () => ({ remote: join(directory, 'absent.git') }),
    'REMOTE_NOT_FOUND',
    /Check the address/,
  ],
  [
    'that is empty',
    async () => {
      const remote = join(directory, 'empty.git');
      await scratchGit(directory, ['init', '--quiet', '--bare', remote]);
      return { remote };
    },
    'REMOTE_EMPTY',
    /Push a first commit/,
  ],
  [
    'whose host refuses connections',
    async () => ({ remote: 'http://127.0.0.1:1/a.git' }),
    'REMOTE_UNREACHABLE',
    /Check the network/,
  ],
  [
    'that refuses the credential',
    async () => {
      const credentials = join(fleet.fleet.dataDirectory, 'credentials');
      await mkdir(credentials, { recursive: true, mode: 0o700 });
      const credential = JSON.stringify({ kind: 'token', host: '127.0.0.1', token: 'expired' });
      await writeFile(join(credentials, 'old.json'), credential, { mode: 0o600 });
      return { remote: `http://127.0.0.1:${closed.port}/any.git`, credential: 'old' };
    },
    'REMOTE_CREDENTIAL_REFUSED',
    /credential is still valid/,
  ],
  [
    'without the branch',
    async () => ({ remote: await makeSmallRemote(directory, 'branchless', calculator.files), branch: 'release' }),
    'BRANCH_UNKNOWN',
    /Name one of its branches: main/,
  ],
];

test.each(kinds)(
  'a remote %s is refused when its project is added, and a run on it fails with the same words',
  async (name, prepare, code, advice) => {
    const given = (await prepare()) as { remote: string };
    const project = `p-${code.toLowerCase().replaceAll('_', '-')}`;
    const refused = await fleet.client.call('addProject', { name: project, ...given }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused, name).toMatchObject({ code });
    await expect(fleet.client.call('showProject', { name: project })).rejects.toMatchObject({
      code: 'PROJECT_UNKNOWN',
    });
    // A host that may come back is tried again for minutes before the run gives up.
    if (code === 'REMOTE_UNREACHABLE') return;
    await fleet.client.call('addProject', { name: project, ...given, unseen: true });
    const run = await endOf(await fleet.submit(project, calculator.goal));
    expect(run).toMatchObject({ result: 'failed', failure: { code, advice: expect.stringMatching(advice) } });
  },
);

test('a branch, a topology and a project that are not there are told where they are asked for', async () => {
  const remote = await makeSmallRemote(directory, 'plain', calculator.files);
  await fleet.addProject('plain', remote);
  const submit = (more: object) => fleet.client.call('submitTask', { project: 'plain', goal: 'x', ...more });
  await expect(submit({ branch: 'release/9' })).rejects.toMatchObject({
    code: 'BRANCH_UNKNOWN',
    advice: 'Name one of its branches: main.',
  });
  await expect(submit({ topology: 'nothing' })).rejects.toMatchObject({ status: 404, code: 'TOPOLOGY_UNKNOWN' });
  await expect(submit({ project: 'nobody' })).rejects.toMatchObject({ status: 404, code: 'PROJECT_UNKNOWN' });
  await expect(submit({ branch: '../x' })).rejects.toMatchObject({ status: 400, code: 'REQUEST_INVALID' });
});

test('a project without tests and a setup that fails end the run before a model is asked, with what to do', async () => {
  const asked = fleet.model.requests.length;
  const untested = await makeSmallRemote(directory, 'untested', { 'package.json': '{"name":"untested"}', 'a.js': '' });
  await fleet.addProject('untested', untested);
  expect(await endOf(await fleet.submit('untested', calculator.goal))).toMatchObject({
    result: 'failed',
    failure: { code: 'CHECKS_NOT_FOUND', advice: expect.stringMatching(/--check/) },
  });
  const remote = await makeSmallRemote(directory, 'unset', calculator.files);
  await fleet.addProject('unset', remote, { setup: ['echo needs a compiler >&2; exit 7'] });
  const runId = await fleet.submit('unset', calculator.goal);
  expect(await endOf(runId)).toMatchObject({
    result: 'failed',
    failure: {
      code: 'SETUP_FAILED',
      message: expect.stringMatching(/needs a compiler/),
      advice: expect.stringMatching(/flotilla show/),
    },
  });
  expect(fleet.model.requests.length).toBe(asked);
  const skipped = await endOf(await fleet.submit('unset', calculator.goal, { setup: false }));
  expect(skipped.result).toBe('landed');
});

test('submodules, pointers, links and odd names are carried along byte for byte while a change beside them lands', async () => {
  const remote = await makeSmallRemote(directory, 'odd', calculator.files);
  commitOddEntries(remote, 'main');
  const before = listEntries(remote, 'main');
  await fleet.addProject('odd', remote);
  const runId = await fleet.submit('odd', calculator.goal);
  const log = await fleet.finish(runId);
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  const after = listEntries(remote, 'main');
  expect(after.length).toBeGreaterThan(oddEntries.length);
  expect(after.filter((line) => !before.includes(line)).map((line) => line.split('\t')[1])).toEqual(['calculator.js']);
  expect(before.filter((line) => !after.includes(line)).map((line) => line.split('\t')[1])).toEqual(['calculator.js']);
  expect(payloadOf<{ change: { files: unknown[] } }>(log, 'change.captured').change.files).toHaveLength(1);
  const { diff } = await fleet.client.call('showDiff', { runId });
  expect(diff).not.toMatch(/PWNED|readme|model\.bin/);
});

test('a branch that was rewritten while its run waited for approval gets the change again, on what it is now', async () => {
  const remote = await makeSmallRemote(directory, 'rewritten', calculator.files);
  await fleet.addProject('rewritten', remote);
  const runId = await fleet.submit('rewritten', calculator.goal);
  await fleet.until(runId, 'gate.opened');
  const tree = git(remote, ['rev-parse', 'main^{tree}']);
  const rewritten = git(remote, ['commit-tree', tree, '-m', 'Begin anew']);
  git(remote, ['update-ref', 'refs/heads/main', rewritten]);
  const log = await fleet.finish(runId);
  expect(payloadOf<{ result: string }>(log, 'run.ended').result, describeEntries(log)).toBe('landed');
  expect(git(remote, ['rev-parse', 'main~1'])).toBe(rewritten);
  expect(git(remote, ['show', 'main:calculator.js'])).toContain(calculator.edit.replace);
});

test('a branch that was deleted while its run waited for approval fails the run, keeps its diff, and a retry lands once it is back', async () => {
  const remote = await makeSmallRemote(directory, 'deleted', calculator.files);
  git(remote, ['update-ref', 'refs/heads/other', 'main']);
  await fleet.addProject('deleted', remote);
  const runId = await fleet.submit('deleted', calculator.goal);
  await fleet.until(runId, 'gate.opened');
  const head = git(remote, ['rev-parse', 'main']);
  git(remote, ['update-ref', '-d', 'refs/heads/main']);
  expect(await endOf(runId)).toMatchObject({
    result: 'failed',
    failure: { code: 'BRANCH_GONE', advice: expect.stringMatching(/flotilla retry/) },
  });
  expect((await fleet.client.call('showDiff', { runId })).diff).toContain(calculator.edit.replace);
  git(remote, ['update-ref', 'refs/heads/main', head]);
  const retried = await fleet.client.call('retryRun', { runId });
  expect((await endOf(retried.runId)).result).toBe('landed');
});

test('a gate is decided once, on its own commit, while it is open: everybody else is told what happened', async () => {
  const remote = await makeSmallRemote(directory, 'gates', calculator.files);
  await fleet.addProject('gates', remote);
  const runId = await fleet.submit('gates', calculator.goal);
  const opened = (await fleet.until(runId, 'gate.opened')).at(-1)!.payload as {
    readonly gateId: never;
    readonly change: { readonly commit: never };
  };
  const { gateId, change } = opened;
  const decide = (more: object) =>
    fleet.client.call('decideGate', { gateId, commit: change.commit, decision: 'approve', ...more });
  const unknown = { gateId: `gate_${'9'.repeat(26)}` };
  await expect(decide(unknown)).rejects.toMatchObject({ status: 404, code: 'GATE_UNKNOWN' });
  await expect(decide({ gateId: runId })).rejects.toMatchObject({ status: 400, code: 'REQUEST_INVALID' });
  await expect(decide({ commit: 'e'.repeat(40) })).rejects.toMatchObject({ status: 409, code: 'GATE_COMMIT_DIFFERS' });
  await expect(decide({ decision: 'request_changes' })).rejects.toMatchObject({ code: 'GATE_COMMENT_MISSING' });
  await decide({ decision: 'request_changes', comment: 'Say why.' });
  await expect(decide({})).rejects.toMatchObject({
    status: 409,
    code: 'GATE_DECIDED',
    message: expect.stringMatching(/request_changes/),
  });
  await fleet.client.call('cancelRun', { runId });
  await fleet.finish(runId);
  await expect(decide({})).rejects.toMatchObject({ status: 409, code: 'GATE_DECIDED' });
});

test('a task that cannot be taken is answered, seen in `flotilla dead`, and lands once its cause is gone and it is replayed', async () => {
  const remote = await makeSmallRemote(directory, 'late', calculator.files);
  const broker = await connectBroker({ url: fleet.fleet.brokerUrl, name: 'publisher' });
  const inbox = broker.createInbox();
  const answered = Promise.withResolvers<Record<string, unknown>>();
  broker.nc.subscribe(inbox, { max: 1, callback: (_, message) => answered.resolve(message.json()) });
  const task = { project: 'late', goal: calculator.goal };
  await broker.js.publish('flotilla.tasks.submitted', JSON.stringify(task), {
    headers: toNatsHeaders({ [headers.answerTo]: inbox }),
  });
  expect(await answered.promise).toMatchObject({ code: 'PROJECT_UNKNOWN', status: 404 });
  await broker.close();

  expect(await flotilla('dead', 'list')).toMatch(/PROJECT_UNKNOWN +There is no project late/);
  const { letters } = await fleet.client.call('listDead', { limit: 1 });
  const letter = String(letters[0]!.deadId);
  expect(await flotilla('dead', 'show', letter)).toMatch(/flotilla project add/);
  await fleet.addProject('late', remote);
  await flotilla('dead', 'replay', letter);
  const runs = () => fleet.client.call('listRuns', { project: 'late' });
  await expect.poll(async () => (await runs()).runs.length, { timeout: 20_000 }).toBe(1);
  const { runId } = (await runs()).runs[0]!;
  expect((await endOf(runId)).result).toBe('landed');
});

/** What the command line printed. */
async function flotilla(...argv: readonly string[]): Promise<string> {
  const { url, token } = fleet.fleet;
  const environment = { PATH: process.env['PATH'], FLOTILLA_URL: url, FLOTILLA_TOKEN: token };
  const result = await runCommand('node', [join(repositoryDirectory, 'services/cli/bin/flotilla.mjs'), ...argv], {
    directory,
    environment,
  });
  expect(result.code, result.stderr).toBe(0);
  return result.stdout;
}
