import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { prepareDataDirectory } from './prepare-data-directory.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-data-'));
  return () => rm(directory, { recursive: true });
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('a data directory is made for its owner alone', async () => {
  const data = join(directory, 'fleet');
  expect(await prepareDataDirectory(data)).toEqual([]);
  expect(await modeOf(data)).toBe(0o700);
});

test('secrets that others can read are closed to them and named, and nothing else is touched', async () => {
  const credentials = join(directory, 'credentials');
  const outside = join(directory, 'outside');
  await mkdir(credentials);
  for (const path of [join(directory, 'token'), join(credentials, 'shop.json'), join(directory, 'notes'), outside]) {
    await writeFile(path, 'x');
    await chmod(path, 0o644);
  }
  await writeFile(join(directory, 'secrets.json'), '{}', { mode: 0o600 });
  await chmod(credentials, 0o755);
  await symlink(outside, join(credentials, 'linked.json'));
  expect((await prepareDataDirectory(directory)).toSorted()).toEqual([
    credentials,
    join(credentials, 'shop.json'),
    join(directory, 'token'),
  ]);
  expect(await modeOf(credentials)).toBe(0o700);
  for (const path of [join(directory, 'token'), join(credentials, 'shop.json')]) expect(await modeOf(path)).toBe(0o600);
  for (const path of [join(directory, 'notes'), outside]) expect(await modeOf(path)).toBe(0o644);
  expect(await prepareDataDirectory(directory)).toEqual([]);
});

test.each([
  ['file', /no directory/],
  ['file/below', /no directory/],
])('a data directory that cannot be one (%s) is refused with what to do', async (path, message) => {
  await writeFile(join(directory, 'file'), '');
  await expect(prepareDataDirectory(join(directory, path))).rejects.toMatchObject({
    code: 'DATA_DIRECTORY_UNUSABLE',
    message: expect.stringMatching(message),
    advice: expect.stringContaining('--data'),
  });
});
