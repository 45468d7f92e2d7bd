import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readTokens } from './read-tokens.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-tokens-'));
  return () => rm(directory, { recursive: true });
});

async function write(content: string, mode = 0o600): Promise<string> {
  const file = join(directory, 'tokens.json');
  await writeFile(file, content, { mode });
  return file;
}

const grant = { token: 'a-token-of-some-length', principal: 'anna', roles: ['read'] };

test('a private list of tokens is read', async () => {
  expect(await readTokens(await write(JSON.stringify([grant])))).toEqual([grant]);
});

test.each([
  ['others may read it', JSON.stringify([grant]), 0o644],
  ['no JSON', 'a-token-of-some-length', 0o600],
  ['an empty list', '[]', 0o600],
  ['a short token', JSON.stringify([{ ...grant, token: 'short' }]), 0o600],
  ['a role nobody has', JSON.stringify([{ ...grant, roles: ['root'] }]), 0o600],
  ['a field nobody knows', JSON.stringify([{ ...grant, admin: true }]), 0o600],
])('%s: the gateway does not start, and says why without a secret', async (_, content, mode) => {
  const refusal = readTokens(await write(content, mode));
  await expect(refusal).rejects.toMatchObject({ code: 'TOKENS_UNUSABLE' });
  await expect(refusal).rejects.not.toThrow(grant.token);
});

test('a file that is not there is said', async () => {
  await expect(readTokens(join(directory, 'none.json'))).rejects.toMatchObject({ code: 'TOKENS_UNUSABLE' });
});
