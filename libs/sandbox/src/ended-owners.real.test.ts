import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { identifyProcess } from './process-identity.ts';
import { reapEnded, type ReapOptions, reapSlots } from './reap-slots.ts';
import { claim, makeTemporaryDirectory, newId, openPool, until } from './sandbox.fixture.ts';
import { defaultSlotLimits } from './slot-limits.ts';
import type { SlotPool, SlotPoolOptions } from './slot-pool.ts';
import { openSlotsDirectory } from './slots-directory.ts';
import { startContainer } from './start-container.ts';

const unexpected = (error: unknown) => {
  throw error;
};

async function pool(overrides: Partial<SlotPoolOptions> = {}) {
  const directory = overrides.directory ?? makeTemporaryDirectory();
  const fixture = await openPool({ ready: 1, ...overrides, directory });
  onTestFinished(async () => {
    await fixture[Symbol.asyncDispose]();
    fs.rmSync(directory, { recursive: true, force: true });
  });
  await until(() => fixture.pool.readyCount() === 1);
  return { ...fixture, reap: { ...fixture.options, isAlive: () => true, onFault: unexpected } };
}

/** A pool in a process of its own beside the given one, with a slot in use and one ready. */
async function poolInProcess({ directory, installation }: SlotPoolOptions) {
  const url = new URL('./sandbox.fixture.ts', import.meta.url).href;
  const program = `
    import { claim, openPool, until } from ${JSON.stringify(url)};
    const { pool } = await openPool({ directory: ${JSON.stringify(directory)}, installation: ${JSON.stringify(installation)}, ready: 1 });
    const { id } = await pool.claim(claim());
    await until(() => pool.readyCount() === 1);
    console.log(id);
    process.stdin.on('close', () => process.exit()).resume();
  `;
  const child = spawn(process.execPath, ['--conditions=@flotilla/source', '--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [used] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    used,
    kill: async () => {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

const slotsIn = ({ directory }: SlotPoolOptions) => fs.readdirSync(path.join(directory, 'slots')).toSorted();

/** Reaps as if a pool had been silent, which beats all the same: until so many slots are removed, and answers with them. */
async function reapAsSilent({ owner }: SlotPool, reap: ReapOptions, count: number): Promise<readonly string[]> {
  const removed: string[] = [];
  await until(async () => {
    const then = new Date(Date.now() - 120_000);
    fs.utimesSync(path.join(reap.directory, 'owners', owner), then, then);
    removed.push(...(await reapSlots(reap)));
    return removed.length === count;
  });
  return removed.toSorted();
}

test('what a killed process left goes at once, in use or ready, and nothing of a living one', async () => {
  const mine = await pool();
  const kept = await mine.pool.claim(claim());
  await until(() => mine.pool.readyCount() === 1);
  const own = slotsIn(mine.options);
  const other = await poolInProcess(mine.options);
  expect(await reapSlots(mine.reap)).toEqual([]);
  await other.kill();
  const removed = await reapSlots(mine.reap);
  expect(removed).toHaveLength(2);
  expect(removed).toContain(other.used);
  expect(slotsIn(mine.options)).toEqual(own);
  expect(fs.readdirSync(path.join(mine.options.directory, 'owners'))).toEqual([mine.pool.owner]);
  expect((await kept.run({ shell: 'echo alive' })).output).toBe('alive\n');
  await kept.destroy();
});

test('the last look leaves nothing of ended processes, not even what they had only begun, and all of everybody else', async () => {
  const installation = `test-${newId()}`;
  const mine = await pool({ installation });
  const neighbour = await pool();
  const namesake = await pool({ installation });
  const { engine, options, reap } = mine;
  const slots = await openSlotsDirectory(options.directory, installation);
  const ended = await poolInProcess(options);
  await ended.kill();
  // A process of another machine with the same directory: its id and start are those of one that has ended here.
  const [pid, start] = (await identifyProcess(process.pid))!.split('.');
  const owner = `pool-far.${pid}.${Number(start) - 1}.0123456789abcdef`;
  await slots.beat(owner);
  const settings = { ...options, slots, owner, limits: defaultSlotLimits };
  const far = [
    await startContainer(settings, `slot-far-ready-${newId()}`),
    await startContainer(settings, `slot-far-used-${newId()}`, { claim: claim() }),
  ];
  onTestFinished(async () => {
    for (const { container } of far) await engine.removeContainer(container);
  });
  const last = await reapEnded(reap);
  expect([last.removed.size, last.held]).toEqual([2, 0]);
  expect((await reapEnded(reap)).removed.size).toBe(0);
  for (const { container } of far) expect(await engine.isRunning(container)).toBe(true);
  for (const { pool: alive } of [mine, neighbour, namesake]) {
    const slot = await alive.claim(claim());
    expect(slot.warm).toBe(true);
    await slot.destroy();
  }

  // Once nobody is left that could finish it, what was only begun goes too.
  for (const { slot, container } of far) {
    await engine.removeContainer(container);
    await slots.removeSlot(slot);
  }
  await slots.removeOwner(owner);
  await mine.pool.close();
  await slots.removeOwner(mine.pool.owner);
  fs.mkdirSync(path.join(options.directory, 'slots', 'slot-begun'));
  expect([...(await reapEnded(reap)).removed]).toEqual(['slot-begun']);
  expect(slotsIn(options)).toEqual([]);
});

test('a process that wakes after its slots were reaped has others, and learns that those it used are lost', async () => {
  const { pool: slots, options, reap, faults } = await pool({ ready: 1, sweepEveryMs: 200 });
  const used = await slots.claim(claim());
  await used.files.write('kept.txt', 'x');
  await until(() => slots.readyCount() === 1);
  const [ready] = slotsIn(options).filter((name) => name !== used.id);
  const inQuiet = used.whileQuiet(async () => {
    expect(await reapAsSilent(slots, { ...reap, isAlive: () => false }, 2)).toEqual([used.id, ready].toSorted());
    return fs.existsSync(path.join(used.directory, 'kept.txt'));
  });
  await expect(inQuiet).rejects.toMatchObject({ code: 'SLOT_LOST', remedy: 'retry' });
  await expect(used.files.read('kept.txt')).rejects.toMatchObject({ code: 'SLOT_LOST' });
  await expect(used.files.list('.')).rejects.toMatchObject({ code: 'SLOT_LOST' });
  await expect(used.files.write('new.txt', 'x')).rejects.toMatchObject({ code: 'SLOT_LOST' });
  expect(() => used.files.stat('kept.txt')).toThrowError(expect.objectContaining({ code: 'SLOT_LOST' }));
  await expect(used.run({ shell: 'true' })).rejects.toMatchObject({ code: 'SLOT_LOST' });
  await used.destroy();

  // Without a claim to find it out.
  await until(() => slots.readyCount() === 1 && slotsIn(options).length === 1 && slotsIn(options)[0] !== ready);
  const next = await slots.claim(claim());
  expect(next.warm).toBe(true);
  expect((await next.run({ shell: 'echo alive' })).output).toBe('alive\n');
  await next.destroy();
  await slots.close();
  expect(slotsIn(options)).toEqual([]);
  expect(faults).toEqual([]);
});

test('a claim that finds its ready slot reaped gets another', async () => {
  const { pool: slots, reap } = await pool();
  await reapAsSilent(slots, reap, 1);
  const slot = await slots.claim(claim());
  expect((await slot.run({ shell: 'echo alive' })).output).toBe('alive\n');
  await slot.destroy();
});

test('a slot that was reaped while it was made is lost, and leaves nothing', async () => {
  const { options, reap, engine } = await pool();
  const slots = await openSlotsDirectory(options.directory, options.installation);
  const slot = `slot-${newId()}`;
  const standing = {
    ...engine,
    createContainer: async (...args: Parameters<typeof engine.createContainer>) => {
      await slots.removeSlot(slot);
      return engine.createContainer(...args);
    },
  };
  const settings = { ...options, engine: standing, slots, owner: 'pool-slow', limits: defaultSlotLimits };
  await slots.beat('pool-slow');
  await expect(startContainer(settings, slot)).rejects.toMatchObject({ code: 'SLOT_LOST' });
  expect(await engine.listContainers(`flotilla.slot=${slot}`)).toEqual([]);
  expect(await reapSlots(reap)).toEqual([]);
});
