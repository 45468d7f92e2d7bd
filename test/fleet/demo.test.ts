import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { afterAll, beforeAll, expect, test } from 'vitest';

const demo = `${process.execPath} --conditions=@flotilla/source ${join(repositoryDirectory, 'infra/dev/src/demo.ts')} --all-in-one`;
let directory: string;

beforeAll(async () => {
  const parent = join(repositoryDirectory, '.data/test-fleets');
  await mkdir(parent, { recursive: true });
  directory = await mkdtemp(join(parent, 'demo-'));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** Runs the demo; `answer` is typed at the gate on a pseudo-terminal, none means that there is no terminal. */
async function runDemo(
  name: string,
  answer?: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const command = `${demo} --data ${join(directory, name)}`;
  const {
    DATABASE_URL: _database,
    NATS_URL: _nats,
    REDIS_URL: _redis,
    FLOTILLA_MODEL: _model,
    ...environment
  } = process.env;
  const [program, ...args] = answer === undefined ? ['sh', '-c', command] : ['script', '-qefc', command, '/dev/null'];
  const child = spawn(program!, args, { env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
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
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

test.each([
  ['without a terminal the gate is approved for the local user, and it says so', undefined],
  ['on a terminal the gate asks', 'a'],
])('the demo lands its change and says that its model is scripted: %s', async (_, answer) => {
  const { code, output } = await runDemo(answer ?? 'none', answer);
  expect(code, output).toBe(0);
  expect(output).toContain('SCRIPTED');
  expect(output).toContain('+    s = delta / (2 - max - min);');
  expect(output).toMatch(/Flotilla-Run: run_/);
  expect(output).toMatch(/trace +[0-9a-f]{32}/);
  expect(output).toContain('The demo came through');
  expect(output.includes('no terminal to ask on')).toBe(answer === undefined);
});
