import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEAD_AFTER_MS, type HealthServer, startHealthServer } from './health-server.ts';

let server: HealthServer;
let silentMs = 0;
let holds = true;
beforeAll(async () => {
  server = await startHealthServer({
    host: '127.0.0.1',
    port: 0,
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
  expect(await ask('/ready')).toEqual([503, { status: 'not ready', checks: { nats: true, postgres: false } }]);
});

test('a process with a part that gave no sign of life for a minute is dead, and the part is named', async () => {
  [silentMs, holds] = [DEAD_AFTER_MS + 1, true];
  expect(await ask('/health')).toEqual([503, { status: 'dead', silent: ['stages'] }]);
  expect(await ask('/ready')).toEqual([200, { status: 'ready', checks: { nats: true, postgres: true } }]);
});
