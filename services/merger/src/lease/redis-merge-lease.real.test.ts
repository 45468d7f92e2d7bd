import { once } from 'node:events';
import { startRedis, type RedisServer } from '@flotilla/testing/servers/start-redis';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RedisMergeLease } from './redis-merge-lease.ts';

let redis: RedisServer;
let leases: RedisMergeLease[];

beforeEach(async () => {
  redis = await startRedis();
  leases = [];
});

afterEach(async () => {
  for (const lease of leases) lease.close();
  await redis.close();
});

test('two holders of one lane never work at the same time, and the second is told to wait', async () => {
  const first = lease();
  const second = lease();
  const order: string[] = [];
  const entered = Promise.withResolvers<undefined>();
  const leave = Promise.withResolvers<undefined>();

  const holding = first.hold('repository refs/heads/main', async () => {
    entered.resolve(undefined);
    await leave.promise;
    order.push('first');
  });
  await entered.promise;
  await expect(second.hold('repository refs/heads/main', async () => order.push('second'))).rejects.toMatchObject({
    code: 'MERGE_LEASE_HELD',
    remedy: 'wait',
  });
  await second.hold('repository refs/heads/other', async () => order.push('other lane'));
  leave.resolve(undefined);
  await holding;
  await second.hold('repository refs/heads/main', async () => order.push('second'));

  expect(order).toEqual(['other lane', 'first', 'second']);
});

test('a lease is given back when the work throws', async () => {
  const holder = lease();
  await expect(holder.hold('lane', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  await expect(lease().hold('lane', async () => 'free')).resolves.toBe('free');
});

test('work longer than the lease keeps it by renewal', async () => {
  const holder = lease({ ttlMs: 300 });
  const other = lease();
  await holder.hold('lane', async (signal) => {
    const end = performance.now() + 1_000;
    while (performance.now() < end) {
      await expect(other.hold('lane', async () => undefined)).rejects.toMatchObject({ code: 'MERGE_LEASE_HELD' });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(signal.aborted).toBe(false);
  });
});

test('a lease that somebody else took over is lost, and its holder hears of it', async () => {
  const thief = new Redis(redis.url);
  await lease({ ttlMs: 600 }).hold('lane', async (signal) => {
    const [key] = await thief.keys('*');
    await thief.set(key!, 'somebody else', 'PX', 60_000);
    await aborted(signal);
    expect(signal.reason).toMatchObject({ code: 'MERGE_LEASE_LOST', remedy: 'wait' });
    expect(await thief.get(key!)).toBe('somebody else');
  });
  thief.disconnect();
});

test('a lease is lost before it can end unseen when Redis goes away', async () => {
  const ttlMs = 1_200;
  await lease({ ttlMs, answerWithinMs: 200 }).hold('lane', async (signal) => {
    const heldAt = performance.now();
    await redis.kill();
    await aborted(signal);
    expect(signal.reason).toMatchObject({ code: 'MERGE_LEASE_LOST' });
    expect(performance.now() - heldAt).toBeLessThan(ttlMs);
  });
});

test('without Redis nothing is worked on, the caller is told to wait, and it goes on when Redis is back', async () => {
  const holder = lease({ answerWithinMs: 500 });
  await redis.kill();
  const work = vi.fn(async () => 'landed');
  await expect(holder.hold('lane', work)).rejects.toMatchObject({ code: 'MERGE_LEASE_UNAVAILABLE', remedy: 'wait' });
  expect(work).not.toHaveBeenCalled();

  await redis.start();
  await vi.waitFor(() => expect(holder.hold('lane', work)).resolves.toBe('landed'), { timeout: 25_000 });
});

function lease(options: { ttlMs?: number; answerWithinMs?: number } = {}): RedisMergeLease {
  const made = new RedisMergeLease({ url: redis.url, ...options });
  leases.push(made);
  return made;
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return signal.aborted ? Promise.resolve() : once(signal, 'abort');
}
