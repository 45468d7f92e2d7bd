import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createBundle } from './bundle.ts';
import { ensureCommit } from './ensure-commit.ts';
import { resolveBranch } from './resolve-branch.ts';
import { makeRemote, mirrorOf } from './scratch.fixture.ts';

const sizeBytes = 3 * 1024 * 1024;
const large = () => makeRemote({ 'noise.txt': randomBytes(sizeBytes / 2).toString('hex') });

test('a history that is larger than the fleet handles is told as such, and leaves nothing behind', async () => {
  const mirror = await mirrorOf(large().bare);
  const { commit } = await resolveBranch(mirror);
  await ensureCommit(mirror, commit);
  const before = readdirSync(mirror.cacheDirectory);
  await expect(createBundle(mirror, { commit, limitBytes: 1024 * 1024 })).rejects.toMatchObject({
    code: 'GIT_OUTPUT_TOO_LARGE',
    remedy: 'operator',
    advice: expect.stringMatching(/larger than the fleet handles: split it/),
  });
  expect(readdirSync(mirror.cacheDirectory)).toEqual(before);
  expect((await createBundle(mirror, { commit })).length).toBeGreaterThan(sizeBytes / 4);
});
