import { expect, test } from 'vitest';
import { QueueSweeper } from './queue-sweeper.ts';

test('the queues are swept at the start, whenever the broker is back and after a failure, until it is stopped', async () => {
  const listeners = new Set<() => void>();
  const told: unknown[] = [];
  let sweeps = 0;
  const sweeper = new QueueSweeper({
    purge: () => {
      sweeps += 1;
      return sweeps === 2 ? Promise.reject(new Error('away')) : Promise.resolve(sweeps - 1);
    },
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    everyMs: 3_600_000,
    onPurged: (messages) => told.push(messages),
    onTrouble: (error) => told.push(String(error)),
  });
  sweeper.onApplicationBootstrap();
  await expect.poll(() => sweeps).toBe(1);
  for (const wanted of [2, 3]) {
    for (const listener of listeners) listener();
    await expect.poll(() => sweeps).toBe(wanted);
  }
  await sweeper.onApplicationShutdown();
  expect(told).toEqual(['Error: away', 2]);
  expect([sweeps, listeners.size]).toEqual([3, 0]);
});
