import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEAD_AFTER_MS, type HealthServer, startHealthServer } from './health-server.ts';

let server: HealthServer;
let silentMs = 0;
let holds = true;
beforeAll(async () => {
  server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
    pid: 4711,
    checks: () => Promise.resolve({ nats: true, postgres: holds }),
    signs: () => ({ stages: silentMs, outbox: 0 }),
  });
});
afterAll(() => server.close());

async function ask(path: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  return [response.status, await response.json()];
}

test('a process is alive while its parts give signs of life, whatever it waits for', async () => {
  [silentMs, holds] = [DEAD_AFTER_MS, false];
  expect(await ask('/health')).toEqual([200, { status: 'running' }]);
  expect(await ask('/ready')).toEqual([
    503,
    { status: 'not ready', pid: 4711, checks: { nats: true, postgres: false } },
  ]);
});

test('a process with a part that gave no sign of life for a minute is dead, and the part is named', async () => {
  [silentMs, holds] = [DEAD_AFTER_MS + 1, true];
  expect(await ask('/health')).toEqual([503, { status: 'dead', silent: ['stages'] }]);
  expect(await ask('/ready')).toEqual([200, { status: 'ready', pid: 4711, checks: { nats: true, postgres: true } }]);
});

test('a port that is taken is refused with an error that names it', async () => {
  const { port } = server;
  const checks = () => Promise.resolve({});
  await expect(startHealthServer({ host: '127.0.0.1', port, pid: 1, checks, signs: () => ({}) })).rejects.toMatchObject(
    {
      code: 'HEALTH_ADDRESS_UNUSABLE',
      details: { port, reason: expect.stringContaining('EADDRINUSE') },
    },
  );
});
