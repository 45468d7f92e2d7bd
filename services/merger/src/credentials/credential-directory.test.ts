import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CredentialDirectory } from './credential-directory.ts';

const secret = 'token-that-must-not-be-told';
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const token = { kind: 'token', host: 'git.example.com', token: secret };

test('a credential is given for the host that it names, whatever the case', async () => {
  await write('main', token);
  await expect(read('main', 'Git.Example.com')).resolves.toEqual(token);
});

test.each([['other.example.com'], ['example.com'], ['git.example.com.evil.org'], [undefined]])(
  'a credential is refused for %s',
  async (host) => {
    await write('main', token);
    const refusal = await read('main', host).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'CREDENTIAL_FOR_OTHER_HOST', remedy: 'caller' });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain(secret);
  },
);

test.each([[0o644], [0o640], [0o602]])('a file with mode %o is refused', async (mode) => {
  await write('main', token, mode);
  await expect(read('main', 'git.example.com')).rejects.toMatchObject({ code: 'CREDENTIAL_EXPOSED' });
});

test('a key file that others may read is refused', async () => {
  const keyFile = join(directory, 'key');
  await writeFile(keyFile, 'key');
  await chmod(keyFile, 0o644);
  await write('main', { kind: 'ssh', host: 'git.example.com', keyFile });
  await expect(read('main', 'git.example.com')).rejects.toMatchObject({
    code: 'CREDENTIAL_EXPOSED',
    details: { path: keyFile },
  });
});

test('a missing credential names the file to write', async () => {
  await expect(read('absent', 'git.example.com')).rejects.toMatchObject({
    code: 'CREDENTIAL_MISSING',
    advice: expect.stringContaining(join(directory, 'absent.json')),
  });
});

test.each([
  ['a misspelt field', JSON.stringify({ ...token, hots: 'x' })],
  ['no JSON', `{"kind":"token","token":"${secret}"`],
  ['a missing host', JSON.stringify({ kind: 'token', token: secret })],
])('a file with %s is refused without quoting it', async (_, text) => {
  await write('main', text);
  const refusal = await read('main', 'git.example.com').catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'CREDENTIAL_UNREADABLE' });
  expect(JSON.stringify(refusal) + String(refusal)).not.toContain(secret);
});

function read(name: string, host: string | undefined) {
  return new CredentialDirectory(directory).read(name, host);
}

async function write(name: string, content: unknown, mode = 0o600): Promise<void> {
  const path = join(directory, `${name}.json`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  await chmod(path, mode);
}
