import { SetupStepRequested } from '@flotilla/contracts/messages/setup-step-requested';
import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { SetupFinished } from '@flotilla/contracts/events/step-events';
import type { Project } from '@flotilla/contracts/project';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { call, text, type Script } from '@flotilla/testing/scripted-model/script';
import { openShop, slugify, type Shop } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { BuildChangeHandler } from './build-change.handler.ts';
import { SetUpProjectHandler } from './set-up-project.handler.ts';
import { SlotTools } from './slot-tools.ts';

const silent: Script = () => text('nothing');
const files = { ...slugify, '.gitignore': 'deps/\n', 'deps.lock': 'lib 1\n' };

test('commands run once for the same lock files, and what they left is laid in a later slot and is no part of a change', async () => {
  const script: Script = ({ calls }) => {
    if (calls.length === 0) return call('terminal.run', { command: 'cat deps/lib.txt && echo note > NOTE.md' });
    return call('agent.finish', { summary: 'Noted.' });
  };
  await using shop = await openShop(script, files);
  const setup = ['mkdir deps && echo installed > deps/lib.txt'];
  const first = await run(shop, { setup });
  expect(first.outcome).toEqual({ kind: 'done', result: { verb: 'setup', key: expect.any(String), reused: false } });
  expect(first.entries).toMatchObject([{ type: 'setup.finished', payload: { how: 'ran', commands: setup } }]);
  expect(SetupFinished.payload.safeParse(first.entries?.[0]?.payload).error).toBeUndefined();
  const second = await run(shop, { setup });
  expect(second.outcome).toMatchObject({ result: { reused: true } });

  if (first.outcome.kind !== 'done' || first.outcome.result.verb !== 'setup') throw new Error('it was done');
  const context = new MemoryStepContext();
  const built = await build(shop, first.outcome.result.key, context);
  expect(JSON.stringify(context.payloads('tool.finished'))).toContain('installed');
  expect(built.outcome).toMatchObject({
    kind: 'done',
    result: { change: { files: [{ path: 'NOTE.md', status: 'added' }] } },
  });
});

test('a project with nothing to install has no setup, and no slot is used for it', async () => {
  await using shop = await openShop(silent);
  expect(await run(shop, {})).toMatchObject({
    outcome: { kind: 'done', result: { key: null, reused: false } },
    entries: [{ payload: { how: 'none' } }],
  });
});

test('a task submitted without setup has none', async () => {
  await using shop = await openShop(silent, files);
  const answer = await run(shop, { setup: ['exit 1'] }, { skip: true });
  expect(answer).toMatchObject({ outcome: { kind: 'done' }, entries: [{ payload: { how: 'skipped' } }] });
});

test('a setup that fails fails the step with the end of what it printed', async () => {
  await using shop = await openShop(silent, files);
  const answer = await run(shop, { setup: ['echo no such package; exit 3'] });
  expect(answer.outcome).toMatchObject({
    kind: 'failed',
    code: 'SETUP_FAILED',
    message: expect.stringContaining('no such package'),
    advice: expect.stringContaining('--no-setup'),
  });
});

test('a host that the operator did not list is not reached, and the log says who asked', async () => {
  await using shop = await openShop(silent, files);
  const context = new MemoryStepContext();
  const ask =
    'node -e "fetch(\'http://elsewhere.example.com/x\').then((r) => process.exit(r.ok ? 1 : 0), () => process.exit(0))"';
  const answer = await run(shop, { setup: [ask, 'mkdir deps && touch deps/x'] }, {}, context);
  expect(answer.outcome).toMatchObject({ kind: 'done' });
  expect(context.payloads('door.request')).toContainEqual(
    expect.objectContaining({ host: 'elsewhere.example.com', verdict: 'refuse' }),
  );
});

test('a lock file for a package manager that the image lacks is told as such', async () => {
  const manifest = JSON.stringify({ name: 'x', dependencies: { y: '1' } });
  await using shop = await openShop(silent, { 'package.json': manifest, 'yarn.lock': '# empty\n' });
  await expect(run(shop, {})).rejects.toMatchObject({ code: 'SETUP_UNSUPPORTED', remedy: 'caller' });
});

async function run(
  shop: Shop,
  project: Partial<Project>,
  parts: Partial<SetupStepRequested> = {},
  context = new MemoryStepContext(),
) {
  const example = SetupStepRequested.payload.parse(SetupStepRequested.example);
  const handler = new SetUpProjectHandler({
    workplaces: shop.workplaces,
    setups: shop.setups,
    tools: new SlotTools(shop.pool, shop.imageId),
    imageId: shop.imageId,
    door: { allow: [] },
    environment: {},
  });
  const request = { ...example, ...shop.work, base: shop.base, project: { ...example.project, ...project }, ...parts };
  return handler.work(request, context);
}

function build(shop: Shop, setupKey: string | null, context: MemoryStepContext) {
  const example = BuildStepRequested.payload.parse(BuildStepRequested.example);
  const handler = new BuildChangeHandler({
    workplaces: shop.workplaces,
    changes: { bundles: shop.bundles, clock: () => new Date('2030-01-01T00:00:00Z') },
    model: shop.model,
    now: () => Date.now(),
  });
  const grants = { 'terminal.run': true };
  return handler.work({ ...example, ...shop.work, base: shop.base, setupKey, grants, verification: 'off' }, context);
}
