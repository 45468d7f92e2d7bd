import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderNatsAuthorization } from '@flotilla/contracts/principals';
import { serviceNames } from '@flotilla/contracts/services';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readPublishers } from './fleet/read-publishers.ts';
import { runCommand } from './run-command.ts';

let directory = '';
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'flotilla-publishers-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const secret = 'p23456789012345678';
// Every name stands there once.
const services = Object.fromEntries([...serviceNames, 'local'].map((name) => [name, `${secret}${name}`])) as Parameters<
  typeof renderNatsAuthorization
>[0];

function write(name: string, content: unknown, mode = 0o600): string {
  const file = join(directory, name);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode });
  return file;
}

function print(...args: readonly string[]) {
  const script = fileURLToPath(new URL('nats-users.ts', import.meta.url));
  return runCommand(process.execPath, ['--conditions=@flotilla/source', script, ...args]);
}

test('the users of services and publishers are printed as the fleet renders them', async () => {
  const publishers = write('publishers.json', [{ name: 'ci', password: secret }]);
  const { code, stdout } = await print(write('services.json', services), publishers);
  expect(code).toBe(0);
  expect(stdout).toBe(renderNatsAuthorization(services, { ci: secret }));
});

test('what is missing or wrong is said with what to do, and no password is', async () => {
  const { gateway: _, ...others } = services;
  const missing = await print(write('services.json', others));
  expect(missing.code).toBe(1);
  expect(missing.stderr).toMatch(/gateway.*Correct the file/s);
  expect(missing.stderr).not.toContain(secret);
  expect((await print()).code).toBe(2);
});

test.each([
  ['others may read it', [{ name: 'ci', password: secret }], 0o644],
  ['it is not JSON', '{', 0o600],
  ['a publisher has', [{ name: 'a.b', password: secret }], 0o600],
  ['the fleet has a user of that name', [{ name: 'local', password: secret }], 0o600],
  ['a letter first', [{ name: 'ci', password: `1${secret}` }], 0o600],
  [
    'a name stands there twice',
    [
      { name: 'ci', password: secret },
      { name: 'ci', password: secret },
    ],
    0o600,
  ],
])('publishers are refused where %s', async (reason, content, mode) => {
  await expect(readPublishers(write('publishers.json', content, mode))).rejects.toMatchObject({
    code: 'PUBLISHERS_UNUSABLE',
    message: expect.stringContaining(reason),
  });
});

test('without a file there are no publishers', async () => {
  expect(await readPublishers(undefined)).toEqual({});
});
