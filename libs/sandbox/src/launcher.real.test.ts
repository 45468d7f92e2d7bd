import { afterAll, beforeAll, expect, test } from 'vitest';
import { killEverything } from './command.ts';
import { connectDocker, type DockerEngine } from './docker-engine.ts';
import type { PoolFixture } from './sandbox.fixture.ts';
import { claim, openPool, until, user } from './sandbox.fixture.ts';
import type { Slot } from './slot.ts';

let fixture: PoolFixture;
/** What was started in containers, the newest last. */
const started: (readonly string[])[] = [];
const engine: DockerEngine = connectDocker(process.env.DOCKER_HOST);
const account = `${user.uid}:${user.gid}`;

beforeAll(async () => {
  fixture = await openPool({
    ready: 1,
    engine: {
      ...engine,
      startExec: (container, request) => {
        started.push(request.argv);
        return engine.startExec(container, request);
      },
    },
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const commandsStarted = () => started.filter((argv) => argv[3] === 'flotilla').length;

async function claimReady(): Promise<Slot> {
  started.length = 0;
  await until(() => fixture.pool.readyCount() > 0);
  return fixture.pool.claim(claim());
}

const containerOf = async (slot: Slot) => {
  const found = await engine.listContainers(`flotilla.slot=${slot.id}`);
  return found[0]!.id;
};

test('a command of a ready slot is started by nobody but the process that waits, and so is the one after it', async () => {
  await using slot = await claimReady();
  expect((await slot.run({ shell: 'echo first' })).output).toBe('first\n');
  expect((await slot.run({ shell: 'echo second; exit 7' })).exitCode).toBe(7);
  expect(commandsStarted()).toBe(0);
});

test('a command is the same whether or not a process waited for it', async () => {
  const command = {
    argv: [
      '/bin/bash',
      '-c',
      'env | sort; printf "<%s>" "$@"; pwd; cat; ulimit -a',
      'x',
      'a b',
      '',
      '"\n\\',
      '$HOME',
      'ü',
    ],
  };
  const options = { stdin: 'given\0', environment: { NAME: 'two\nlines' }, path: ['bin'] };
  const ask = async (slot: Slot) => {
    const { output, exitCode } = await slot.run(command, options);
    return { output, exitCode };
  };
  await using slot = await claimReady();
  const waited = await ask(slot);
  expect(commandsStarted()).toBe(0);
  await using cold = await fixture.pool.claim({ ...claim(), image: await engine.imageId(slot.image) });
  started.length = 0;
  expect(await ask(cold)).toEqual(waited);
  expect(commandsStarted()).toBe(1);
  expect(waited.output).toContain('<a b><><"\n\\><$HOME><ü>/workspace\ngiven\0');
});

test('a command that is too long for the process that waits begins without it', async () => {
  await using slot = await claimReady();
  const { output } = await slot.run({ argv: ['/bin/echo', 'x'.repeat(40_000)] });
  expect(output).toHaveLength(40_001);
  expect(commandsStarted()).toBe(1);
  expect((await slot.run({ shell: 'echo next' })).output).toBe('next\n');
});

test('where the process that waited was killed, the command begins once without it', async () => {
  await using slot = await claimReady();
  const container = await containerOf(slot);
  const waits = async () => (await engine.listProcesses(container)).some(({ uid }) => uid === user.uid);
  await until(waits);
  const request = { argv: killEverything, user: account, directory: '/', environment: {}, stdin: false };
  const { stream } = await engine.startExec(container, request);
  stream.resume();
  await new Promise((resolve) => stream.on('close', resolve));
  await until(async () => !(await waits()));
  started.length = 0;
  expect((await slot.run({ shell: 'echo once >> log; cat log' })).output).toBe('once\n');
  expect(commandsStarted()).toBe(1);
});

test('nothing of a command meets the process that waits for the next one', async () => {
  await using slot = await claimReady();
  await slot.run({
    shell: '(while :; do pgrep -u $(id -u) -x bash >> seen; kill -STOP $(pgrep -u $(id -u) -x bash); done) & disown',
  });
  expect((await slot.run({ shell: 'ps -o comm= -u $(id -u) | grep -cv -E "^(sh|bash|ps|grep)$"' })).output).toBe('0\n');
  await slot.whileQuiet(() => Promise.resolve());
  expect((await slot.run({ shell: 'echo alive' })).output).toBe('alive\n');
});
