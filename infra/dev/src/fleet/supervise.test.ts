import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FlotillaError } from '@flotilla/errors/flotilla-error';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentReport } from '../report.ts';
import { supervise } from './supervise.ts';

let directory = '';
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'flotilla-supervise-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const fatal = (code: string) =>
  JSON.stringify({ level: 'fatal', event: 'start_failed', code, reason: 'it names no model', advice: 'Correct it.' });

/** Supervises a service of shell whose readiness is that of `readyUrl`; gives up as the start of a fleet does. */
function run(script: string, readyUrl = 'http://127.0.0.1:1/ready', readyWithinMs = 120_000) {
  const stopped = new AbortController();
  const givenUp: FlotillaError[] = [];
  const logFile = join(directory, 'planner.log');
  const supervised = supervise({
    services: [{ name: 'planner', command: ['sh', '-c', script], environment: {}, logFile, readyUrl }],
    report: silentReport,
    signal: stopped.signal,
    readyWithinMs,
    onGivenUp: (error) => {
      givenUp.push(error);
      stopped.abort(error);
    },
  });
  return {
    supervised,
    givenUp,
    starts: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line === 'starts').length,
  };
}

test("a service that an operator's error keeps from starting is given up at once, with that error's reason and advice", async () => {
  const { supervised, givenUp, starts } = run(`echo starts; echo '${fatal('MODEL_SETTING_INVALID')}' >&2; exit 1`);
  await expect(supervised.ready()).rejects.toMatchObject({
    code: 'SERVICE_CANNOT_START',
    message: 'The planner cannot start: MODEL_SETTING_INVALID: it names no model',
    advice: 'Correct it. Then start again.',
  });
  await supervised.stop();
  expect(givenUp).toHaveLength(1);
  expect(starts()).toBe(1);
});

test.each([
  ['an error that time puts right', `echo '${fatal('STORE_UNAVAILABLE')}' >&2`],
  ['a crash', 'echo boom >&2'],
])('a service that ends by %s before it was ready is started again', async (_, end) => {
  const { supervised, givenUp, starts } = run(`echo starts; ${end}; exit 1`);
  await vi.waitFor(() => expect(starts()).toBeGreaterThan(1), 60_000);
  await supervised.stop();
  expect(givenUp).toEqual([]);
});

test("another program's answer on a service's port does not make the service ready", async () => {
  const other = createServer((_, response) => response.end(JSON.stringify({ status: 'ready', pid: process.pid })));
  other.listen(0);
  const { port } = other.address() as { readonly port: number };
  const { supervised } = run('exec sleep 60', `http://127.0.0.1:${port}/ready`, 500);
  try {
    await expect(supervised.ready()).rejects.toMatchObject({
      code: 'SERVICE_NOT_READY',
      details: { reason: 'another program answers on its port' },
    });
  } finally {
    await supervised.stop();
    other.close();
  }
});

test('a service that was ready is started again whatever keeps it from starting then', async () => {
  const health = createServer((_, response) => response.end(JSON.stringify({ pid: pidOf() }))).listen(0);
  const { port } = health.address() as { readonly port: number };
  const script = `echo starts; while ! [ -e '${directory}/ready' ]; do sleep 0.05; done; echo '${fatal('MODEL_SETTING_INVALID')}' >&2; exit 1`;
  const { supervised, givenUp, starts } = run(script, `http://127.0.0.1:${port}/ready`);
  const pidOf = () => supervised.processes.get('planner')?.pid;
  try {
    await supervised.ready();
    writeFileSync(join(directory, 'ready'), '');
    await vi.waitFor(() => expect(starts()).toBeGreaterThan(1), 60_000);
    expect(givenUp).toEqual([]);
  } finally {
    await supervised.stop();
    health.close();
  }
});
