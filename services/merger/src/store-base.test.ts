import { CommitId } from '@flotilla/contracts/ids';
import { REMOVE_BASE_AFTER_MS, RENEW_BASE_AFTER_MS } from '@flotilla/contracts/streams';
import { MemoryBundles } from '@flotilla/testing/memory-bundles';
import { expect, test } from 'vitest';
import { storeBase } from './store-base.ts';

const commit = CommitId.parse('a'.repeat(40));
const now = new Date('2030-02-01T00:00:00Z');

test.each([
  ['absent', undefined, true],
  ['young', RENEW_BASE_AFTER_MS - 1, false],
  ['old', RENEW_BASE_AFTER_MS, true],
])('a base that is %s is stored where a run is to use it', async (_, ageMs, stored) => {
  const bundles = new MemoryBundles();
  if (ageMs !== undefined) {
    await bundles.put(`base/${commit}`, Buffer.from('before'));
    bundles.storedAt.set(`base/${commit}`, new Date(now.getTime() - ageMs));
  }
  expect(await storeBase(bundles, commit, now, async () => Buffer.from('anew'))).toBe(`base/${commit}`);
  expect(Buffer.from(await bundles.get(`base/${commit}`)).toString()).toBe(stored ? 'anew' : 'before');
});

test('between what is stored anew and what may be removed lies more time than a run takes to tell of its base', () => {
  expect(REMOVE_BASE_AFTER_MS - RENEW_BASE_AFTER_MS).toBeGreaterThanOrEqual(7 * 24 * 3600 * 1000);
});
