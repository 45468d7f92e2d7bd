import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from './harness/wait-until.ts';

const demo = `${process.execPath} --conditions=@flotilla/source ${join(repositoryDirectory, 'infra/dev/src/demo.ts')} --all-in-one`;
let directory: string;

beforeAll(async () => {
  const parent = join(repositoryDirectory, '.data/test-fleets');
  await mkdir(parent, { recursive: true });
  directory = await mkdtemp(join(parent, 'demo-'));
});

afterAll(async () => {
  for (const name of await readdir(directory)) await startDemo(name, { options: '--stop' }).ended;
  await rm(directory, { recursive: true, force: true });
});

interface DemoOptions {
  readonly options?: string;
  /** Typed at the gate on a pseudo-terminal; without it there is no terminal. */
  readonly answer?: string;
}

interface RunningDemo {
  readonly child: ChildProcess;
  output(): string;
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

function startDemo(name: string, { options = '', answer }: DemoOptions = {}): RunningDemo {
  const command = `exec ${demo} --data ${join(directory, name)} ${options}`;
  const {
    DATABASE_URL: _database,
    NATS_URL: _nats,
    REDIS_URL: _redis,
    FLOTILLA_MODEL: _model,
    ...environment
  } = process.env;
  const [program, ...args] = answer === undefined ? ['sh', '-c', command] : ['script', '-qefc', command, '/dev/null'];
  const child = spawn(program!, args, {
    env: { ...environment, XDG_CONFIG_HOME: join(directory, 'configuration') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let answered = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (answer === undefined || answered || !output.includes('[a]pprove')) return;
      answered = true;
      child.stdin.write(`${answer}\n`);
    });
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve)).then((code) => ({ code, output }));
  return { child, output: () => output, ended };
}

/** Command lines and working directories of processes of this machine that name the demo's directory. */
async function findProcesses(name: string): Promise<readonly string[]> {
  const place = join(directory, name);
  const pids = (await readdir('/proc')).filter((each) => /^\d+$/.test(each));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      const [line, environment] = await Promise.all(
        ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      );
      return line!.includes(place) || environment!.includes(place) ? `${pid} ${line!.replaceAll('\0', ' ')}` : '';
    }),
  );
  return lines.filter((line) => line !== '');
}

test.each([
  ['without a terminal the gate is approved for the local user, and it says so', undefined],
  ['on a terminal the gate asks', 'a'],
])('the demo lands its change, says that its model is scripted, and leaves nothing: %s', async (_, answer) => {
  const name = answer ?? 'none';
  const { code, output } = await startDemo(name, answer === undefined ? {} : { answer }).ended;
  expect(code, output).toBe(0);
  expect(output).toContain('SCRIPTED');
  expect(output).toContain('+    s = delta / (2 - max - min);');
  expect(output).toMatch(/Flotilla-Run: run_/);
  expect(output).toMatch(/trace +[0-9a-f]{32}/);
  expect(output).toContain('The demo came through');
  expect(output.includes('no terminal to ask on')).toBe(answer === undefined);
  expect(await findProcesses(name)).toEqual([]);
});

test('a demo that keeps its fleet returns, the fleet outlives its terminal, a second one leaves it alone, and stopping leaves nothing', async () => {
  const kept = await startDemo('kept', { options: '--keep', answer: 'a' }).ended;
  expect(kept.code, kept.output).toBe(0);
  const url = /The fleet stays at (\S+),/.exec(kept.output)?.[1];
  const tokenFile = /token +in (\S+)/.exec(kept.output)?.[1];
  expect(kept.output).toContain('npm run demo -- --stop');
  const listRuns = async (): Promise<unknown> => {
    const token = (await readFile(tokenFile!, 'utf8')).trim();
    return (await fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } })).json();
  };
  expect(await listRuns()).toMatchObject({ runs: [{ result: 'landed' }] });

  const service = (await findProcesses('kept')).find((line) => line.includes('all-in-one/dist/main.js'))!;
  process.kill(Number.parseInt(service, 10), 'SIGKILL');
  await waitUntil('the service is started again', async () => listRuns().then(Boolean, () => false));

  const second = await startDemo('kept').ended;
  expect(second.code).toBe(1);
  expect(second.output).toContain('already runs the fleet');
  expect(second.output).toContain('npm run demo -- --stop');
  expect(await listRuns()).toMatchObject({ runs: [{ result: 'landed' }] });

  const stopped = await startDemo('kept', { options: '--stop' }).ended;
  expect(stopped.code, stopped.output).toBe(0);
  expect(await findProcesses('kept')).toEqual([]);
});

test.each([
  ['Ctrl-C while it sets up', 'SIGINT', 'redis: version', '--keep'],
  ['Ctrl-C in the middle of the run', 'SIGINT', 'begun by executor', ''],
  ['a kill in the middle of the run', 'SIGKILL', 'begun by executor', '--keep'],
] as const)(
  'a demo that ends before it hands its fleet over leaves nothing: %s',
  async (name, signal, moment, options) => {
    const place = name.replaceAll(' ', '-');
    const { child, output, ended } = startDemo(place, { options });
    await waitUntil(moment, () => child.exitCode !== null || output().includes(moment));
    child.kill(signal);
    const { code } = await ended;
    expect(code, output()).not.toBe(0);
    await waitUntil('nothing is left', async () => (await findProcesses(place)).length === 0);
  },
);

test('a person who stops watching a demo that is to keep its fleet finds the run going on', async () => {
  const { child, output, ended } = startDemo('left', { options: '--keep' });
  await waitUntil('the run is under way', () => child.exitCode !== null || output().includes('begun by executor'));
  child.kill('SIGINT');
  const { code } = await ended;
  expect(code, output()).toBe(130);
  expect(output()).toContain('The fleet stays at');
  expect(await findProcesses('left')).not.toEqual([]);
  const stopped = await startDemo('left', { options: '--stop' }).ended;
  expect(stopped.code, stopped.output).toBe(0);
  expect(await findProcesses('left')).toEqual([]);
});
