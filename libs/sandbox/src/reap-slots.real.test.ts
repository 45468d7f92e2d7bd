import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reapSlots, removeEarlierAttempts } from './reap-slots.ts';
import { claim, makeTemporaryDirectory, newId, openPool, until } from './sandbox.fixture.ts';
import { defaultSlotLimits } from './slot-limits.ts';
import type { SlotPoolOptions } from './slot-pool.ts';
import { openSlotsDirectory } from './slots-directory.ts';
import { startContainer } from './start-container.ts';

async function pool(overrides: Partial<SlotPoolOptions> = {}) {
  const fixture = await openPool(overrides);
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return fixture;
}

function temporaryDirectory(): string {
  const directory = makeTemporaryDirectory();
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const unexpected = (error: unknown) => {
  throw error;
};

test('the reaper takes the slots of dead attempts and dead pools, and touches no other', async () => {
  const directory = temporaryDirectory();
  const mine = await pool({ directory, ready: 1 });
  const { engine, options } = mine;
  const { installation } = options;
  const dead = await mine.pool.claim(claim('dead'));
  const alive = await mine.pool.claim(claim('alive'));
  const foreign = await pool();
  const stranger = await foreign.pool.claim(claim('dead'));
  await until(() => mine.pool.readyCount() === 1);

  const reap = () =>
    reapSlots({ engine, directory, installation, isAlive: ({ step }) => step !== 'dead', onFault: unexpected });
  expect(await reap()).toEqual([dead.id]);
  expect(await reap()).toEqual([]);
  expect((await alive.run({ shell: 'echo alive' })).output).toBe('alive\n');
  expect((await stranger.run({ shell: 'echo alive' })).output).toBe('alive\n');
  expect(mine.pool.readyCount()).toBe(1);
  expect(fs.existsSync(dead.directory)).toBe(false);

  // What a pool leaves that was killed: a ready slot, and a heartbeat that grows old.
  const slots = await openSlotsDirectory(directory, options.installation);
  const left = `slot-${newId()}`;
  await slots.beat('pool-killed');
  await startContainer({ ...options, slots, owner: 'pool-killed', limits: defaultSlotLimits }, left);
  expect(await reap()).toEqual([]);
  const growOld = (ms: number) => {
    const then = new Date(Date.now() - ms);
    fs.utimesSync(path.join(directory, 'owners', 'pool-killed'), then, then);
  };
  growOld(60_000);
  expect(await reap()).toEqual([left]);
  // It may only stand still, and then goes on.
  expect(fs.readdirSync(path.join(directory, 'owners')).sort()).toEqual([mine.pool.owner, 'pool-killed'].sort());
  growOld(48 * 3_600_000);
  expect(await reap()).toEqual([]);
  expect(fs.readdirSync(path.join(directory, 'owners'))).toEqual([mine.pool.owner]);
  await alive.destroy();
  await stranger.destroy();
  await dead.destroy();
});

test('a slot that cannot be removed keeps no other from being removed, and is told of', async () => {
  const { pool: slots, engine, options } = await pool();
  const stuck = await slots.claim(claim());
  const gone = await slots.claim(claim());
  const refusal = new Error('the disk does not let go of it');
  const [{ id } = { id: '' }] = await engine.listContainers(`flotilla.slot=${stuck.id}`);
  const stubborn = {
    ...engine,
    removeContainer: (container: string) =>
      container === id ? Promise.reject(refusal) : engine.removeContainer(container),
  };
  const faults: unknown[] = [];
  const removed = await reapSlots({
    ...options,
    engine: stubborn,
    isAlive: () => false,
    onFault: (error) => faults.push(error),
  });
  expect({ removed, faults }).toEqual({ removed: [gone.id], faults: [refusal] });
  await expect(removeEarlierAttempts({ ...options, engine: stubborn }, { ...stuck.claim, attempt: 2 })).rejects.toBe(
    refusal,
  );
  for (const slot of [stuck, gone]) await slot.destroy();
});

test('two installations of one name take nothing from each other, whatever they know of the attempts', async () => {
  const installation = `test-${newId()}`;
  const mine = await pool({ installation, ready: 1 });
  const neighbour = await pool({ installation, ready: 1 });
  const theirs = await neighbour.pool.claim(claim('build'));
  await until(() => neighbour.pool.readyCount() === 1);
  const { engine, directory } = mine.options;
  expect(await reapSlots({ engine, directory, installation, isAlive: () => false, onFault: unexpected })).toEqual([]);
  expect(await removeEarlierAttempts(mine.options, { ...theirs.claim, attempt: 9 })).toEqual([]);
  expect((await theirs.run({ shell: 'echo alive' })).output).toBe('alive\n');
  expect(neighbour.pool.readyCount()).toBe(1);
  await theirs.destroy();
  const next = await neighbour.pool.claim(claim('build'));
  expect(next.warm).toBe(true);
  await next.destroy();
});

test('a slot whose name a neighbour of the same installation uses too is taken without its twin', async () => {
  const installation = `test-${newId()}`;
  const mine = await pool({ installation });
  const neighbour = await pool({ installation });
  const { engine, directory } = mine.options;
  const start = async ({ options }: typeof mine, step: string) => {
    const slots = await openSlotsDirectory(options.directory, installation);
    await slots.beat('pool-killed');
    const settings = { ...options, slots, owner: 'pool-killed', limits: defaultSlotLimits };
    return startContainer(settings, `slot-${installation}`, { claim: claim(step) });
  };
  const theirs = await start(neighbour, 'alive');
  const left = await start(mine, 'dead');
  onTestFinished(() => engine.removeContainer(theirs.container));
  const reap = { engine, directory, installation, isAlive: () => false, onFault: unexpected };
  expect(await reapSlots(reap)).toEqual([left.slot]);
  expect([await engine.isRunning(left.container), await engine.isRunning(theirs.container)]).toEqual([false, true]);
});

test('a resumed step removes its earlier attempts and nothing else', async () => {
  const { pool: slots, options } = await pool();
  const first = await slots.claim({ run: 'run-a', step: 'build', attempt: 1 });
  const others = [
    await slots.claim({ run: 'run-a', step: 'build', attempt: 2 }),
    await slots.claim({ run: 'run-a', step: 'plan', attempt: 1 }),
    await slots.claim({ run: 'run-b', step: 'build', attempt: 1 }),
  ];
  expect(await removeEarlierAttempts(options, { run: 'run-a', step: 'build', attempt: 2 })).toEqual([first.id]);
  for (const other of others) expect((await other.run({ shell: 'echo alive' })).output).toBe('alive\n');
  for (const slot of [first, ...others]) await slot.destroy();
});
