import { MemoryStepContext } from '@flotilla/testing/memory-step-context';
import { startRedis, type RedisServer } from '@flotilla/testing/servers/start-redis';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LandingScene } from './land-change.fixture.ts';
import { RedisMergeLease } from './lease/redis-merge-lease.ts';

let redis: RedisServer;
let scene: LandingScene;
let leases: RedisMergeLease[];

beforeEach(async () => {
  redis = await startRedis();
  scene = new LandingScene();
  leases = [];
});
afterEach(async () => {
  for (const lease of leases) lease.close();
  scene.remove();
  await redis.close();
});

test('two mergers that are asked for one step at the same time land it once', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  const answers = await Promise.allSettled(
    ['one', 'two'].map((host) => scene.merger({ host, lease: newLease() }).work(request, new MemoryStepContext())),
  );
  const refused = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason);
  for (const reason of refused) expect(reason).toMatchObject({ code: 'MERGE_LEASE_HELD', remedy: 'wait' });
  expect(scene.remote.head()).toBe(approved.commit);

  const later = await scene.merger({ host: 'two', lease: newLease() }).work(request, new MemoryStepContext());
  expect(later.outcome).toMatchObject({ kind: 'done', result: { commit: approved.commit } });
  expect(scene.timesLanded(approved)).toBe(1);
});

test('without Redis to keep them apart, two mergers with mirrors of their own still land one step once', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const request = scene.request(approved);
  await Promise.all(['one', 'two'].map((host) => scene.merger({ host }).work(request, new MemoryStepContext())));
  expect(scene.timesLanded(approved)).toBe(1);
});

test('two changes to different files that race for one branch both land or are told to be tested again, and none is lost', async () => {
  const first = scene.change({ 'a.txt': 'two\n' });
  const second = scene.change({ 'b.txt': 'two\n' });
  const answers = await Promise.all(
    [first, second].map((change, index) =>
      scene.merger({ host: `host-${index}` }).work(scene.request(change), new MemoryStepContext()),
    ),
  );
  expect(answers.map((answer) => answer.outcome.kind).sort()).toEqual(['done', 'unverified']);
  const landed = answers[0]?.outcome.kind === 'done' ? first : second;
  expect(scene.remote.head()).toBe(landed.commit);
});

test('a landing waits while Redis is away and goes on by itself when it is back', async () => {
  const approved = scene.change({ 'a.txt': 'two\n' });
  const merger = scene.merger({ lease: newLease() });
  await redis.kill();
  await expect(merger.work(scene.request(approved), new MemoryStepContext())).rejects.toMatchObject({
    code: 'MERGE_LEASE_UNAVAILABLE',
    remedy: 'wait',
  });
  expect(scene.remote.head()).toBe(scene.base);

  await redis.start();
  await vi.waitFor(() => merger.work(scene.request(approved), new MemoryStepContext()), {
    timeout: 25_000,
    interval: 100,
  });
  expect(scene.remote.head()).toBe(approved.commit);
});

function newLease(): RedisMergeLease {
  const lease = new RedisMergeLease({ url: redis.url, answerWithinMs: 500 });
  leases.push(lease);
  return lease;
}
