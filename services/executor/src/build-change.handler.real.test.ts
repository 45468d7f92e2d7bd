import { BuildStepRequested } from '@flotilla/contracts/messages/build-step-requested';
import { ToolFinished } from '@flotilla/contracts/events/journal-events';
import { ChangeCaptured } from '@flotilla/contracts/events/step-events';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import type { LogEntry, NewLogEntry } from '@flotilla/contracts/log-entry';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { call, type Script } from '@flotilla/testing/scripted-model/script';
import { keepDigits, openShop, type Shop } from '@flotilla/workplace/workplace.fixture';
import { expect, test } from 'vitest';
import { BuildChangeHandler } from './build-change.handler.ts';

const grants = {
  'fs.read': true,
  'fs.list': true,
  'fs.glob': true,
  'fs.grep': true,
  'fs.write': true,
  'fs.edit': true,
  'terminal.run': true,
  'test.run': true,
  'git.diff': true,
} as const;
const engineer = engineerScript({ edits: [keepDigits], summary: 'Digits are kept.' });

test('a build edits in a slot, tests, and hands on one commit on the base with its diff', async () => {
  await using shop = await openShop(engineer);
  const context = new MemoryStepContext({ stepId: 'build' });
  const answer = await build(shop).work(request(shop), context);

  expect(answer.outcome).toMatchObject({
    kind: 'done',
    result: { verb: 'build', summary: 'Digits are kept.', change: { base: shop.base.commit } },
  });
  expect(StepCompleted.payload.safeParse({ ...StepCompleted.example, ...answer }).error).toBeUndefined();
  const captured = ChangeCaptured.payload.parse(answer.entries?.[0]?.payload);
  expect(captured.change.files).toEqual([{ path: 'slugify.js', status: 'modified', additions: 1, deletions: 1 }]);
  expect(captured.diff).toContain('+  text.toLowerCase().replace(/[^a-z0-9]+/g');
  expect(shop.bundles.names.has(captured.change.bundle)).toBe(true);
  expect(answer.spent.turns).toBeGreaterThan(2);
  expect(context.payloads('agent.checkpoint')).toContainEqual(
    expect.objectContaining({ tree: captured.change.tree, bundle: expect.stringContaining(request(shop).runId) }),
  );
  expect(shop.containers()).toEqual([]);
});

test('an agent that changes nothing is no change', async () => {
  await using shop = await openShop(() => call('agent.finish', { summary: 'It works already.' }));
  const answer = await build(shop).work(request(shop), new MemoryStepContext());
  expect(answer.outcome).toEqual({ kind: 'no_changes', reason: 'It works already.' });
});

const finishesOf = (context: MemoryStepContext) =>
  context
    .payloads('tool.finished')
    .map((payload) => ToolFinished.payload.parse(payload))
    .filter(({ tool }) => tool === 'agent.finish');

test('an agent hears why what it leaves cannot become a change, and hands it in once that is put right', async () => {
  const script: Script = ({ calls }) => {
    switch (calls.length) {
      case 0:
        return call('terminal.run', { command: 'git init -q sub && mkdir .GIT && touch .GIT/x && echo hi > NOTES.md' });
      case 1:
        return call('agent.finish', { summary: 'Noted.' });
      case 2:
        return call('terminal.run', { command: 'rm -r .GIT sub' });
      default:
        return call('agent.finish', { summary: 'Noted.' });
    }
  };
  await using shop = await openShop(script);
  const context = new MemoryStepContext();
  const answer = await build(shop).work({ ...request(shop), verification: 'off' }, context);
  expect(answer.outcome).toMatchObject({ kind: 'done', result: { change: { files: [{ path: 'NOTES.md' }] } } });
  expect(finishesOf(context)).toMatchObject([
    { ok: false, code: 'HAND_IN_REFUSED', result: expect.stringMatching(/\.GIT.*Remove or rename/s) },
    { ok: true },
  ]);
});

test('an agent that puts nothing right fails with what is wrong', async () => {
  const script: Script = ({ calls }) =>
    calls.length === 0
      ? call('terminal.run', { command: 'mkdir .GIT && touch .GIT/x' })
      : call('agent.finish', { summary: 'Done.' });
  await using shop = await openShop(script);
  const context = new MemoryStepContext();
  const building = build(shop).work({ ...request(shop), verification: 'off' }, context);
  await expect(building).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
  expect(finishesOf(context).map(({ ok }) => ok)).toEqual([false, false, false, true]);
});

test('work that cannot be kept is told at once, and named as gone when a crash lost it', async () => {
  const dying = new MemoryStepContext();
  const script: Script = ({ calls }) => {
    if (calls.length === 0) return call('terminal.run', { command: 'mkdir .GIT && touch .GIT/x' });
    if (calls.length === 1) return call('fs.write', { path: 'NOTES.md', content: 'lost\n' });
    dying.abort(new Error('the process dies'));
    return call('agent.finish', { summary: 'Looked again.' });
  };
  await using shop = await openShop(script);
  const unverified = { ...request(shop), verification: 'off' as const };
  await expect(build(shop).work(unverified, dying)).rejects.toThrow('the process dies');
  expect(dying.payloads('agent.checkpoint')).toEqual([]);
  const untold = { code: 'WORKSPACE_NOT_KEPT', text: expect.stringMatching(/\.GIT.*Remove or rename/s) };
  expect(dying.payloads('agent.nudge')).toEqual([untold, untold]);

  const resumed = new MemoryStepContext({ delivery: 2, journal: asWritten(dying.entries) });
  expect((await build(shop).work(unverified, resumed)).outcome).toMatchObject({ kind: 'no_changes' });
  expect(resumed.payloads('agent.nudge')).toContainEqual({
    code: 'WORKSPACE_RESTORED',
    text: expect.stringContaining('terminal__run (1.0), fs__write (2.0)'),
  });
});

test('an agent out of turns reaches its limit and hands on no change', async () => {
  await using shop = await openShop(engineer);
  const short = { ...request(shop), allowance: { ...request(shop).allowance, turns: 3 } };
  const answer = await build(shop).work(short, new MemoryStepContext());
  expect(answer.outcome).toEqual({ kind: 'limit_reached', limit: 'turns' });
  expect(answer.entries).toBeUndefined();
});

test('whatever the last thing is that its journal keeps, another process goes on from there and makes the same tree', async () => {
  await using shop = await openShop(engineer);
  const whole = new MemoryStepContext();
  const tree = treeOf(await build(shop).work(request(shop), whole));

  for (const survives of firstOfEachKind(whole.entries)) {
    const died = new MemoryStepContext({ onLog: dieAfter(survives) });
    await build(shop)
      .work(request(shop), died)
      .catch(() => undefined);
    const resumed = new MemoryStepContext({ delivery: 2, journal: asWritten(died.entries) });
    const answer = await build(shop, true).work(request(shop), resumed);
    expect(treeOf(answer), `dies after ${survives} entries`).toBe(tree);
    const repeated = resumed.payloads('agent.turn').length - whole.payloads('agent.turn').length;
    expect(repeated, `dies after ${survives} entries`).toBeLessThanOrEqual(2);
  }
  expect(shop.containers()).toEqual([]);
}, 300_000);

test('a slot that a dead delivery of the same attempt left is gone before the next one begins', async () => {
  await using shop = await openShop(engineer);
  const { runId, stepId, attempt } = request(shop);
  const dead = await shop.pool.claim({ run: runId, step: stepId, attempt });
  const [left] = shop.containers();
  await build(shop).work(request(shop), new MemoryStepContext({ delivery: 2 }));
  expect(shop.containers()).not.toContain(left);
  await dead.destroy();
});

test('an earlier version of the change on the same base is gone on with', async () => {
  const script: Script = ({ calls }) =>
    calls.length === 0 ? call('fs.read', { path: 'NOTES.md' }) : call('agent.finish', { summary: 'Kept.' });
  await using shop = await openShop(script);
  const change = shop.change({ 'NOTES.md': 'first version\n' });
  const context = new MemoryStepContext();
  const answer = await build(shop).work({ ...request(shop), change }, context);
  expect(treeOf(answer)).toBe(change.tree);
  expect(context.payloads('tool.finished')).toContainEqual(
    expect.objectContaining({ ok: true, result: expect.stringContaining('first version') }),
  );
});

test('a change that met a conflict is begun anew from the head that it met', async () => {
  const script: Script = ({ calls }) =>
    calls.length === 0 ? call('fs.list', {}) : call('agent.finish', { summary: 'Nothing to do.' });
  await using shop = await openShop(script);
  const change = shop.change({ 'NOTES.md': 'first version\n' });
  const head = shop.remote.advance({ 'OTHER.md': 'from somebody else\n' });
  shop.bundles.names.set(`base/${head}`, shop.remote.bundle(head));
  const context = new MemoryStepContext();
  const moved = { ...request(shop), base: { commit: head, bundle: `base/${head}` }, change };
  const answer = await build(shop).work(moved, context);
  expect(answer.outcome).toMatchObject({ kind: 'no_changes' });
  expect(JSON.stringify(context.payloads('tool.finished'))).toContain('OTHER.md');
  expect(JSON.stringify(context.payloads('tool.finished'))).not.toContain('NOTES.md');
});

test('a cancelled build ends as cancelled and leaves no container', async () => {
  const context = new MemoryStepContext();
  const script: Script = ({ calls }) => {
    if (calls.length === 0) return call('terminal.run', { command: 'sleep 300' });
    return call('agent.finish', { summary: 'Slept.' });
  };
  await using shop = await openShop(script);
  const building = build(shop).work(request(shop), context);
  await expect.poll(() => shop.runs('sleep 300'), { timeout: 30_000 }).toBe(true);
  context.cancel(new FlotillaError(errors.runCancelled, { runId: request(shop).runId }));
  await expect(building).resolves.toMatchObject({ outcome: { kind: 'cancelled' } });
  expect(shop.containers()).toEqual([]);
});

test('a build whose process stops throws the reason, and the next one tells the model that the call was interrupted', async () => {
  const script: Script = ({ calls }) => {
    if (calls.length === 0) return call('terminal.run', { command: 'sleep 300' });
    return call('agent.finish', { summary: 'Went on.' });
  };
  await using shop = await openShop(script);
  const stopping = new MemoryStepContext();
  const building = build(shop).work(request(shop), stopping);
  await expect.poll(() => shop.runs('sleep 300'), { timeout: 30_000 }).toBe(true);
  const reason = new Error('the process stops');
  stopping.abort(reason);
  await expect(building).rejects.toBe(reason);

  const resumed = new MemoryStepContext({
    delivery: 2,
    journal: asWritten(stopping.entries),
  });
  const answer = await build(shop).work(request(shop), resumed);
  expect(answer.outcome).toEqual({ kind: 'no_changes', reason: 'Went on.' });
  expect(resumed.payloads('tool.finished')).toContainEqual(expect.objectContaining({ code: 'INTERRUPTED' }));
});

function build(shop: Shop, elsewhere = false): BuildChangeHandler {
  return new BuildChangeHandler({
    workplaces: elsewhere ? shop.moveHost() : shop.workplaces,
    changes: { bundles: shop.bundles, clock: () => new Date('2030-01-01T00:00:00Z') },
    model: shop.model,
    now: () => Date.now(),
  });
}

function request({ base, work }: Shop): BuildStepRequested {
  const example = BuildStepRequested.payload.parse(BuildStepRequested.example);
  return { ...example, ...work, base, grants };
}

function treeOf({ outcome }: Awaited<ReturnType<BuildChangeHandler['work']>>): string {
  if (outcome.kind !== 'done' || outcome.result.verb !== 'build') throw new Error(`unexpected ${outcome.kind}`);
  return outcome.result.change.tree;
}

/** How many entries there are when each kind of entry, by its tool where it has one, is the last for the first time. */
function firstOfEachKind(entries: readonly LogEntry[]): readonly number[] {
  const kinds = entries.map(({ type, payload }) => `${type} ${(payload as { readonly tool?: string }).tool ?? ''}`);
  const firsts = kinds.flatMap((kind, index) => (kinds.indexOf(kind) === index ? [index + 1] : []));
  // Looking at files is like looking at others.
  return firsts.filter((survives) => !/fs\.(list|glob)/.test(kinds[survives - 1] ?? ''));
}

/** What was read is what had been written. */
function asWritten(entries: readonly LogEntry[]): readonly NewLogEntry[] {
  return entries as unknown as readonly NewLogEntry[];
}

/** The lease is lost, or the process dies: nothing more is durable. */
function dieAfter(survives: number): (entries: readonly NewLogEntry[]) => void {
  let durable = 0;
  return (entries) => {
    durable += entries.length;
    if (durable > survives) throw new Error('the process is dead');
  };
}
