import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { expect, onTestFinished, test } from 'vitest';
import { connectDocker, type DockerEngine } from './docker-engine.ts';
import { openSlotsDirectory } from './slots-directory.ts';
import { startContainer } from './start-container.ts';
import { defaultSlotLimits } from './slot-limits.ts';
import { claim, makeTemporaryDirectory, newId, now, openPool, until, user } from './sandbox.fixture.ts';
import type { SlotPoolOptions } from './slot-pool.ts';

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

test('a ready slot is claimed at once, and another is made ready in the background', async () => {
  const { pool: slots, engine, options } = await pool({ ready: 1, limit: 2 });
  await until(() => slots.readyCount() === 1);
  const claimed = claim();
  await using slot = await slots.claim(claimed);
  expect(slot.warm).toBe(true);
  expect(slots.available()).toBe(1);
  await until(() => slots.readyCount() === 1);
  expect(await engine.listContainers(`flotilla.installation=${options.installation}`)).toHaveLength(2);
  await slot.destroy();
  expect(slots.available()).toBe(2);
});

test('a claim without a ready slot starts a container of its own, labelled with its attempt', async () => {
  const { pool: slots, engine } = await pool();
  const claimed = claim();
  await using slot = await slots.claim(claimed);
  expect(slot.warm).toBe(false);
  const [container] = await engine.listContainers(`flotilla.run=${claimed.run}`);
  expect(container?.labels).toMatchObject({
    'flotilla.step': 'build',
    'flotilla.attempt': '1',
    'flotilla.slot': slot.id,
  });
});

test('no more slots are given than the limit, and the refusal costs nothing but waiting', async () => {
  const { pool: slots } = await pool({ limit: 1 });
  const first = await slots.claim(claim());
  expect(slots.available()).toBe(0);
  await expect(slots.claim(claim())).rejects.toMatchObject({ code: errors.slotsExhausted.code, remedy: 'wait' });
  await first.destroy();
  const second = await slots.claim(claim());
  await second.destroy();
});

test('nothing of one slot is found in the next (C14)', async () => {
  const { pool: slots } = await pool({ limit: 1, ready: 1 });
  const first = await slots.claim(claim());
  const plant =
    'for d in /tmp /dev/shm /workspace ~; do echo planted > $d/planted-file; done; setsid sleep 1000 & ls /tmp';
  expect((await first.run({ shell: plant })).output).toContain('planted-file');
  await first.destroy();
  const second = await slots.claim(claim());
  const found = await second.run({ shell: 'find / -name "planted-file" 2>/dev/null; ps -eo comm | grep -c sleep' });
  // The one sleep is the container's own first child.
  expect(found.output).toBe('1\n');
  await second.destroy();
});

test('removing a slot follows no link out of it (C18)', async () => {
  const outside = temporaryDirectory();
  fs.writeFileSync(path.join(outside, 'canary'), 'alive');
  const { pool: slots, options } = await pool();
  const slot = await slots.claim(claim());
  await slot.run({
    shell: `ln -s ${outside} out; ln -s / root; mkdir -p a/b; ln -s ${outside} a/b/out; mkdir locked; chmod 000 locked`,
  });
  expect(fs.readFileSync(path.join(slot.directory, 'out/canary'), 'utf8')).toBe('alive');
  await slot.destroy();
  expect(fs.readdirSync(path.join(options.directory, 'slots'))).toEqual([]);
  expect(fs.readFileSync(path.join(outside, 'canary'), 'utf8')).toBe('alive');
});

test('a ready container that is gone is replaced by one that is there', async () => {
  const { pool: slots, engine, options } = await pool({ ready: 1 });
  await until(() => slots.readyCount() === 1);
  const [container] = await engine.listContainers(`flotilla.installation=${options.installation}`);
  await engine.removeContainer(container!.id);
  await using slot = await slots.claim(claim());
  expect((await slot.run({ shell: 'echo alive' })).output).toBe('alive\n');
});

test('an engine that does not answer is a wait, an image that is not there is not', async () => {
  const { pool: lost, faults } = await pool({ engine: connectDocker('unix:///nonexistent/docker.sock'), ready: 1 });
  await expect(lost.claim(claim())).rejects.toMatchObject({ code: errors.dockerUnavailable.code, remedy: 'wait' });
  await until(() => faults.length > 0);
  expect(lost.available()).toBe(4);
  const { pool: imageless } = await pool({ image: 'flotilla/no-such-image:1' });
  await expect(imageless.claim(claim())).rejects.toMatchObject({
    code: errors.sandboxImageMissing.code,
    remedy: 'operator',
  });
});

test('an engine that is lost in the middle of a command is a wait, and the slot is removed when it is back', async () => {
  const address = path.join(temporaryDirectory(), 'docker.sock');
  const open = new Set<net.Socket>();
  const relay = net.createServer((client) => {
    const daemon = net.connect('/var/run/docker.sock');
    for (const socket of [client, daemon]) open.add(socket.on('error', () => undefined));
    client.pipe(daemon).pipe(client);
  });
  const listen = () => new Promise<void>((resolve) => relay.listen(address, resolve));
  await listen();
  const { pool: slots, options } = await pool({ engine: connectDocker(`unix://${address}`) });
  const slot = await slots.claim(claim());
  const loseEngine = () => {
    relay.close();
    for (const socket of open) socket.destroy();
  };
  const running = slot.run({ shell: 'echo ready; sleep 1000' }, { onOutput: loseEngine });
  await expect(running).rejects.toMatchObject({ code: errors.dockerUnavailable.code, remedy: 'wait' });
  await expect(slot.destroy()).rejects.toMatchObject({ code: errors.dockerUnavailable.code });
  await listen();
  await slot.destroy();
  expect(await options.engine.listContainers(`flotilla.slot=${slot.id}`)).toEqual([]);
  expect(slots.available()).toBe(4);
  await slots.close();
  loseEngine();
});

test("a directory that holds other things, or is another installation's, is refused", async () => {
  const directory = temporaryDirectory();
  fs.writeFileSync(path.join(directory, 'thesis.txt'), 'x');
  await expect(pool({ directory })).rejects.toMatchObject({ code: errors.slotDirectoryForeign.code });
  const { options } = await pool({ directory: path.join(directory, 'slots-here') });
  await expect(pool({ directory: options.directory, installation: 'other' })).rejects.toMatchObject({
    code: errors.slotDirectoryForeign.code,
  });
});

test('a slot goes whatever names its command gave to files', async () => {
  const { pool: slots, options } = await pool();
  const slot = await slots.claim(claim());
  await slot.run({ shell: `mkdir -p $'d\\xff/\\xfe'; touch $'f\\xff' $'d\\xff/\\xfe/g\\x80'` });
  expect((await slot.files.list('.')).entries).toHaveLength(2);
  await slot.destroy();
  expect(fs.readdirSync(path.join(options.directory, 'slots'))).toEqual([]);
});

test('a container ends by itself within a minute of its pool, with whatever runs in it, and no other does', async () => {
  const { pool: alive, engine, options } = await pool();
  const slots = await openSlotsDirectory(options.directory, options.installation);
  const kept = await alive.claim(claim());
  const owner = `pool-${newId()}`;
  await slots.beat(owner);
  const settings = { ...options, slots, owner, limits: defaultSlotLimits };
  const left = [
    await startContainer(settings, `slot-idle-${owner}`),
    await startContainer(settings, `slot-door-${owner}`, { door: true }),
    await startContainer(settings, `slot-busy-${owner}`),
  ];
  const argv = ['/bin/sh', '-c', 'while :; do sleep 1; done'];
  const command = { argv, user: `${user.uid}:${user.gid}`, directory: '/', environment: {}, stdin: false };
  (await engine.startExec(left[2]!.container, command)).stream.resume();
  for (const { container } of left) expect(await engine.isRunning(container)).toBe(true);
  await until(async () => (await engine.listContainers(`flotilla.owner=${owner}`)).length === 0, 60_000);
  expect((await kept.run({ shell: 'echo alive' })).output).toBe('alive\n');
  await kept.destroy();
}, 90_000);

test('closing a pool leaves no ready container and no directory', async () => {
  const { pool: slots, engine, options } = await pool({ ready: 2 });
  await until(() => slots.readyCount() === 2);
  await slots.close();
  expect(await engine.listContainers(`flotilla.installation=${options.installation}`)).toEqual([]);
  expect(fs.readdirSync(path.join(options.directory, 'slots'))).toEqual([]);
});

/** An engine that does as it is told, but whose answers are lost, or that refuses, for as long as `trouble` names the call. */
function troubled(engine: DockerEngine) {
  const trouble = new Map<keyof DockerEngine, 'refuses' | 'answer lost'>();
  const lost = new FlotillaError(errors.dockerUnavailable, { reason: 'injected' });
  const through =
    <Args extends unknown[], T>(name: keyof DockerEngine, call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      const how = trouble.get(name);
      if (how === 'refuses') throw lost;
      const answer = await call(...args);
      if (how === 'answer lost') throw lost;
      return answer;
    };
  const createContainer = through('createContainer', engine.createContainer);
  const startContainer = through('startContainer', engine.startContainer);
  const removeContainer = through('removeContainer', engine.removeContainer);
  const renameContainer = through('renameContainer', engine.renameContainer);
  return { trouble, engine: { ...engine, createContainer, startContainer, removeContainer, renameContainer } };
}

const localEngine = () => connectDocker(process.env.DOCKER_HOST);
const directoriesOf = ({ directory }: SlotPoolOptions) => fs.readdirSync(path.join(directory, 'slots'));
const containersOf = ({ installation }: SlotPoolOptions) =>
  localEngine().listContainers(`flotilla.installation=${installation}`);

test.each([
  ['made, but whose making was not answered', { createContainer: 'answer lost' }],
  ['started, but neither answered nor removed', { startContainer: 'answer lost', removeContainer: 'refuses' }],
  ['not started, nor removed', { startContainer: 'refuses', removeContainer: 'refuses' }],
] as const)('a container that was %s is removed by its living pool', async (_, faults) => {
  const { trouble, engine } = troubled(localEngine());
  for (const [call, how] of Object.entries(faults)) trouble.set(call as keyof DockerEngine, how);
  const { pool: slots, options, faults: heard } = await pool({ engine, ready: 1, sweepEveryMs: 100 });
  await until(() => heard.length > 0);
  trouble.clear();
  await until(() => slots.readyCount() === 1);
  await until(async () => (await containersOf(options)).length === 1 && directoriesOf(options).length === 1);
});

test('a ready container that a claim could not take, nor remove, is removed by its living pool', async () => {
  const { trouble, engine } = troubled(localEngine());
  const { pool: slots, options } = await pool({ engine, ready: 1, sweepEveryMs: 100 });
  await until(() => slots.readyCount() === 1);
  const [taken] = await containersOf(options);
  trouble.set('renameContainer', 'answer lost').set('removeContainer', 'refuses');
  await expect(slots.claim(claim())).rejects.toMatchObject({ code: errors.dockerUnavailable.code });
  trouble.clear();
  await until(async () => (await containersOf(options)).every(({ id }) => id !== taken?.id));
  await until(() => slots.readyCount() === 1 && directoriesOf(options).length === 1);
});

test('a slot that its claimant could not remove is removed by its living pool, and one in use is not', async () => {
  const { trouble, engine } = troubled(localEngine());
  const { pool: slots, options } = await pool({ engine, sweepEveryMs: 100 });
  await using kept = await slots.claim(claim());
  const slot = await slots.claim(claim());
  trouble.set('removeContainer', 'refuses');
  await expect(slot.destroy()).rejects.toThrow();
  trouble.clear();
  await until(async () => (await containersOf(options)).length === 1 && directoriesOf(options).length === 1);
  expect((await kept.run({ shell: 'echo alive' })).output).toBe('alive\n');
});

test('closing a pool tries again what cannot be removed at once, and leaves nothing but the slots in use', async () => {
  const { trouble, engine } = troubled(localEngine());
  let refused = 0;
  const removeContainer = async (id: string) => {
    if (trouble.has('removeContainer') && (refused += 1) > 3) trouble.clear();
    return engine.removeContainer(id);
  };
  const { pool: slots, options } = await pool({ engine: { ...engine, removeContainer }, ready: 2 });
  await until(() => slots.readyCount() === 2);
  const used = await slots.claim(claim());
  await until(() => slots.readyCount() === 2);
  trouble.set('removeContainer', 'refuses');
  await slots.close();
  expect(refused).toBeGreaterThan(3);
  expect(directoriesOf(options)).toEqual([used.id]);
  expect(await containersOf(options)).toHaveLength(1);
  trouble.set('removeContainer', 'refuses');
  refused = 0;
  await used.destroy();
  expect(directoriesOf(options)).toEqual([]);
  expect(await containersOf(options)).toEqual([]);
});

test('a claim that is given up leaves nothing', async () => {
  const { pool: slots, engine, options } = await pool();
  const abort = new AbortController();
  const claiming = slots.claim({ ...claim(), signal: abort.signal });
  abort.abort();
  await expect(claiming).rejects.toThrow();
  expect(slots.available()).toBe(4);
  expect(await engine.listContainers(`flotilla.installation=${options.installation}`)).toEqual([]);
});

test('numbers: warm claim, cold claim, command', async () => {
  const { pool: slots } = await pool({ ready: 2 });
  const median = (numbers: number[]) => Math.round(numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0);
  const measured = { warm: [] as number[], cold: [] as number[], run: [] as number[], destroy: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    await until(() => slots.readyCount() === 2);
    const warm = await slots.claim(claim());
    measured.warm.push(warm.claimMs);
    for (let call = 0; call < 4; call += 1) measured.run.push((await warm.run({ shell: 'true' })).durationMs);
    const started = now();
    await warm.destroy();
    measured.destroy.push(now() - started);
  }
  const { pool: unready } = await pool();
  for (let round = 0; round < 5; round += 1) {
    const cold = await unready.claim(claim());
    measured.cold.push(cold.claimMs);
    await cold.destroy();
  }
  const p50 = Object.fromEntries(Object.entries(measured).map(([name, numbers]) => [name, median(numbers)]));
  console.info('p50 in ms', p50);
  expect(p50.warm).toBeLessThan(p50.cold ?? 0);
});
