import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createHostFixture,
  eventually,
  type HostFixture,
  planned,
  planRequest,
  plannerDefinition,
} from './host.fixture.ts';

let fixture: HostFixture;
beforeAll(async () => {
  fixture = await createHostFixture();
});
afterAll(() => fixture?.close());

const main = fileURLToPath(new URL('run-service.fixture.ts', import.meta.url));

function startProcess(environment: NodeJS.ProcessEnv) {
  const args = ['--conditions=@flotilla/source', main];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, ended: once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>, output: () => output };
}

test('a process that is told to end hands its step over and ends with 0', async () => {
  const { child, ended, output } = startProcess(fixture.environment);
  await eventually('it is ready', () => output().includes('service_ready'));
  const request = planRequest();
  await fixture.request(request);
  await eventually(
    'the step is at work',
    async () => (await fixture.entries(request.runId, request.stepId)).length === 1,
  );
  await fixture.start(plannerDefinition(() => Promise.resolve(planned)));
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await eventually('another answers', async () => (await fixture.answers(request)).length === 1);
  expect(output()).toContain('service_stopping');
});

test('a process that is killed in the middle of a step loses it to another within the lease', async () => {
  const { child, ended, output } = startProcess(fixture.environment);
  await eventually('it is ready', () => output().includes('service_ready'));
  const request = planRequest();
  await fixture.stopAll();
  await fixture.request(request);
  await eventually(
    'the step is at work',
    async () => (await fixture.entries(request.runId, request.stepId)).length === 1,
  );
  child.kill('SIGKILL');
  await ended;
  const killedAt = performance.now();
  await fixture.start(plannerDefinition(() => Promise.resolve(planned)));
  await eventually('another answers', async () => (await fixture.answers(request)).length === 1);
  expect(performance.now() - killedAt).toBeLessThan(25_000);
  expect(await fixture.entries(request.runId, request.stepId)).toEqual(['step.started', 'step.started']);
});

test('a process that cannot start says what is wrong with its settings, all at once, and ends with 1', async () => {
  const { ended, output } = startProcess({ FLOTILLA_SLOTS: 'many' });
  expect(await ended).toEqual([1, null]);
  expect(output()).toMatch(/SETTINGS_INVALID.*DATABASE_URL.*NATS_URL.*FLOTILLA_SLOTS/s);
});
