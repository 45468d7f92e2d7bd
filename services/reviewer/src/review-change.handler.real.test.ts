import type { NewLogEntry } from '@flotilla/contracts/log-entry';
import { ReviewStepRequested } from '@flotilla/contracts/messages/review-step-requested';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { VerifyStepRequested } from '@flotilla/contracts/messages/verify-step-requested';
import type { Project } from '@flotilla/contracts/project';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { call, type Script } from '@flotilla/testing/scripted-model/script';
import { openShop, slugify, type Shop } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { ReviewChangeHandler } from './review-change.handler.ts';
import { VerifyCandidateHandler } from './verify-candidate.handler.ts';

const good = { 'slugify.js': slugify['slugify.js'].replace('[^a-z]+', '[^a-z0-9]+') };
const reads = { 'fs.read': true, 'fs.list': true } as const;
const approving = engineerScript({ edits: [] });

test('a change whose checks pass on its exact tree is reviewed, and the evidence is for that tree', async () => {
  await using shop = await openShop(approving);
  const change = shop.change(good);
  const context = new MemoryStepContext();
  const answer = await review(shop).work(request(shop, { change }), context);

  const evidence = { tree: change.tree, image: expect.any(String), checks: ['npm test'] };
  expect(answer.outcome).toMatchObject({ kind: 'done', result: { verb: 'review', evidence } });
  expect(StepCompleted.payload.safeParse({ ...StepCompleted.example, ...answer }).error).toBeUndefined();
  expect(context.payloads('checks.passed')).toEqual([evidence]);
  expect(context.payloads('check.ran')).toMatchObject([{ command: 'npm test', exitCode: 0, timedOut: false }]);
  expect(answer.entries).toMatchObject([{ type: 'review.written', payload: { verdict: 'approve' } }]);
  expect(shop.scripted.requests[0]?.text).toContain('[^a-z0-9]+');
  expect(shop.containers()).toEqual([]);
});

test('a failing check goes back to the author with the end of its output, and no model is asked', async () => {
  await using shop = await openShop(approving);
  const change = shop.change({ 'NOTES.md': 'nothing of use\n' });
  const context = new MemoryStepContext();
  const answer = await review(shop).work(request(shop, { change }), context);
  expect(answer.outcome).toMatchObject({
    kind: 'changes_requested',
    findings: [{ severity: 'critical', text: expect.stringContaining('AssertionError') }],
  });
  expect(context.payloads('checks.failed')).toMatchObject([{ tree: change.tree, check: 'npm test', exitCode: 1 }]);
  expect(context.payloads('checks.passed')).toEqual([]);
  expect(shop.scripted.requests).toEqual([]);
});

test('a model that wants changes sends the change back with its findings, though the checks passed', async () => {
  await using shop = await openShop(engineerScript({ edits: [], rejects: '[^a-z0-9]+' }));
  const answer = await review(shop).work(request(shop, { change: shop.change(good) }), new MemoryStepContext());
  expect(answer.outcome).toMatchObject({ kind: 'changes_requested', findings: [{ severity: 'critical' }] });
});

const needing = (test: string) => JSON.stringify({ type: 'module', scripts: { test }, dependencies: { ms: '2.1.3' } });

test('a check that misses a package of the change fails, and author and person are told why it cannot pass', async () => {
  await using shop = await openShop(approving);
  const change = shop.change({ 'package.json': needing(`node -e "import('ms')"`) });
  const answer = await review(shop).work(request(shop, { change }), new MemoryStepContext());
  expect(answer.outcome).toMatchObject({
    kind: 'changes_requested',
    findings: [
      { text: expect.stringContaining("Cannot find package 'ms'") },
      { severity: 'critical', text: expect.stringContaining('never installed before it has landed') },
    ],
  });
});

test('a change of dependencies whose checks pass is approved with a warning that they were not installed', async () => {
  await using shop = await openShop(approving);
  const change = shop.change({ 'package.json': needing('true') });
  const answer = await review(shop).work(request(shop, { change }), new MemoryStepContext());
  const warning = expect.objectContaining({
    severity: 'warning',
    text: expect.stringContaining('passed without it'),
  });
  const findings = expect.arrayContaining([warning]);
  expect(answer.outcome).toMatchObject({ kind: 'done', result: { findings } });
  expect(answer.entries).toMatchObject([{ type: 'review.written', payload: { findings } }]);
});

test('a project without checks fails unless its owner waived them, and then the evidence names none', async () => {
  await using shop = await openShop(approving, { 'README.md': 'words\n' });
  const change = shop.change({ 'README.md': 'better words\n' });
  const refused = await review(shop).work(request(shop, { change }), new MemoryStepContext());
  expect(refused.outcome).toMatchObject({ kind: 'failed', code: 'CHECKS_NOT_FOUND' });
  const waived = await review(shop).work(request(shop, { change }, { unchecked: true }), new MemoryStepContext());
  expect(waived.outcome).toMatchObject({ kind: 'done', result: { evidence: { tree: change.tree, checks: [] } } });
});

test('declared checks run in their order in a shell, without network, and the first failure ends them', async () => {
  await using shop = await openShop(approving);
  const checks = ['test "$(ls /sys/class/net)" = lo', 'false', 'echo never'];
  const context = new MemoryStepContext();
  const answer = await review(shop).work(request(shop, { change: shop.change(good) }, { checks }), context);
  expect(answer.outcome).toMatchObject({ kind: 'changes_requested' });
  expect(context.payloads('check.ran')).toMatchObject([
    { command: checks[0], exitCode: 0 },
    { command: 'false', exitCode: 1 },
  ]);
});

test('a check that hangs is stopped and did not pass', async () => {
  await using shop = await openShop(approving);
  const context = new MemoryStepContext();
  const wanted = request(shop, { change: shop.change(good) }, { checks: ['trap "exit 0" TERM; sleep 60 & wait'] });
  const answer = await review(shop, 500).work(wanted, context);
  expect(answer.outcome).toMatchObject({ kind: 'changes_requested' });
  expect(context.payloads('check.ran')).toMatchObject([{ timedOut: true }]);
});

test('what a check did to its files is not what the model reads', async () => {
  const script: Script = ({ calls }) =>
    calls.length === 0
      ? call('fs.read', { path: 'slugify.js' })
      : call('agent.finish', { verdict: 'approve', summary: 'Read.', findings: [] });
  await using shop = await openShop(script);
  const context = new MemoryStepContext();
  const checks = ['echo harmless > slugify.js'];
  await review(shop).work(request(shop, { change: shop.change(good) }, { checks }), context);
  const [read] = context.payloads('tool.finished');
  expect(read).toMatchObject({ ok: true, result: expect.stringContaining('[^a-z0-9]+') });
});

test('a reviewer cannot write, whatever its grants say', async () => {
  const script: Script = ({ calls }) =>
    calls.length === 0
      ? call('fs.write', { path: 'x.txt', text: 'x' })
      : call('agent.finish', { verdict: 'approve', summary: 'Tried.', findings: [] });
  await using shop = await openShop(script);
  const context = new MemoryStepContext();
  const wanted = { ...request(shop, { change: shop.change(good) }), grants: { 'fs.write': true } };
  await review(shop).work(wanted, context);
  expect(context.payloads('tool.started').filter((entry) => (entry as { tool: string }).tool === 'fs.write')).toEqual(
    [],
  );
});

test('a review that went on after its process died does not run checks that have passed again', async () => {
  await using shop = await openShop(approving);
  const change = shop.change(good);
  const first = new MemoryStepContext();
  await review(shop).work(request(shop, { change }), first);
  const journal = first.entries.filter(({ type }) => type.startsWith('check')) as unknown as readonly NewLogEntry[];
  const second = new MemoryStepContext({ delivery: 2, journal });
  const answer = await review(shop).work(request(shop, { change }), second);
  expect(answer.outcome).toMatchObject({ kind: 'done', result: { evidence: { tree: change.tree } } });
  expect(second.payloads('check.ran')).toHaveLength(1);
});

test('verifying runs the checks on the candidate and asks no model', async () => {
  await using shop = await openShop(approving);
  const passing = await verify(shop, shop.change(good));
  expect(passing.outcome).toMatchObject({
    kind: 'done',
    result: { verb: 'verify', evidence: { checks: ['npm test'] } },
  });
  const failing = await verify(shop, shop.change({ 'NOTES.md': 'x\n' }));
  expect(failing.outcome).toMatchObject({ kind: 'changes_requested' });
  expect(shop.scripted.requests).toEqual([]);
});

function review(shop: Shop, timeoutMs?: number): ReviewChangeHandler {
  const limits = timeoutMs === undefined ? {} : { limits: { timeoutMs } };
  return new ReviewChangeHandler({ workplaces: shop.workplaces, model: shop.model, now: () => Date.now(), ...limits });
}

function request(
  shop: Shop,
  parts: Pick<ReviewStepRequested, 'change'>,
  project: Partial<Project> = {},
): ReviewStepRequested {
  const example = ReviewStepRequested.payload.parse(ReviewStepRequested.example);
  const { base, work } = shop;
  return { ...example, ...work, base, grants: reads, project: { ...example.project, ...project }, ...parts };
}

function verify({ workplaces, work, base }: Shop, candidate: VerifyStepRequested['candidate']) {
  const example = VerifyStepRequested.payload.parse(VerifyStepRequested.example);
  const handler = new VerifyCandidateHandler({ workplaces });
  return handler.work({ ...example, ...work, base, candidate }, new MemoryStepContext());
}
