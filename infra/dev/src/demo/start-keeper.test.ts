import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openKeeperLog } from './start-keeper.ts';

test('the data directory of a demo and the log in it are for its owner alone', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-keeper-'));
  const dataDirectory = join(directory, 'demo', 'fleet');
  await (await openKeeperLog(dataDirectory)).close();
  const log = join(dataDirectory, 'logs', 'keeper.log');
  const modes = await Promise.all(
    [dataDirectory, dirname(log), log].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o700, 0o600]);
  await rm(directory, { recursive: true });
});
