import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit } from '@flotilla/git/run-git';
import { ScratchRemote } from '@flotilla/testing/scratch-remote';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CredentialDirectory } from '../credentials/credential-directory.ts';
import { RemoteInspector } from './remote-inspector.ts';

let data: string;
let remote: ScratchRemote;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'merger-inspect-'));
  remote = new ScratchRemote();
});
afterEach(() => {
  remote.remove();
  rmSync(data, { recursive: true, force: true });
});

const inspector = (patience?: number, certificateFile?: string) =>
  new RemoteInspector(
    {
      git: createGit(),
      mirrorDirectory: join(data, 'mirrors'),
      credentialDirectory: data,
      credentials: new CredentialDirectory(data),
      refusedUnder: [],
      certificateFile,
    },
    patience,
  );

test('a remote tells its default branch and what a named branch is at, and nothing is left on the disk', async () => {
  const release = remote.advance({ 'b.txt': 'b\n' }, 'release');
  expect(await inspector().inspect({ remote: remote.path, lookForTests: false })).toEqual({
    repository: `file:${remote.path}`,
    branch: 'main',
    commit: remote.head(),
    checkedOut: false,
  });
  expect(await inspector().inspect({ remote: remote.path, branch: 'release', lookForTests: false })).toMatchObject({
    commit: release,
  });
  expect(readdirSync(join(data, 'mirrors'))).toEqual([]);
});

test('what a run could not open is refused as opening it would be', async () => {
  const empty = join(data, 'empty.git');
  await createGit()({ gitDirectory: empty, args: ['init', '--quiet', '--bare'] });
  writeFileSync(join(data, 'shop.json'), JSON.stringify({ kind: 'token', host: 'git.example.com', token: 'x' }), {
    mode: 0o600,
  });
  const refusals = [
    [{ remote: join(data, 'absent') }, 'REMOTE_NOT_FOUND'],
    [{ remote: empty }, 'REMOTE_EMPTY'],
    [{ remote: remote.path, branch: 'nothing' }, 'BRANCH_UNKNOWN'],
    [{ remote: 'http://127.0.0.1:1/a.git' }, 'REMOTE_UNREACHABLE'],
    [{ remote: 'https://127.0.0.1:1/a.git', credential: 'absent' }, 'CREDENTIAL_MISSING'],
    [{ remote: 'https://127.0.0.1:1/a.git', credential: 'shop' }, 'CREDENTIAL_FOR_OTHER_HOST'],
    [{ remote: 'ssh://git@127.0.0.1:1/a.git' }, 'REMOTE_CREDENTIAL_MISMATCH'],
  ] as const;
  for (const [asked, code] of refusals)
    await expect(inspector().inspect({ ...asked, lookForTests: false })).rejects.toMatchObject({ code });
  expect(readdirSync(join(data, 'mirrors'))).toEqual([]);
});

test('whether a tree tells its test command is looked for where that is asked', async () => {
  const ask = async () => (await inspector().inspect({ remote: remote.path, lookForTests: true })).tests;
  expect(await ask()).toBe('none');
  remote.advance({ 'package.json': '{"scripts":{"test":"node --test"}}' });
  expect(await ask()).toBe('detected');
  expect(readdirSync(join(data, 'mirrors'))).toEqual([]);
});

test('a host that takes the connection and says nothing is unreachable after a while', async () => {
  const silent = await new Promise<Server>((resolve) => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1', () => resolve(server));
  });
  const { port } = silent.address() as AddressInfo;
  try {
    await expect(
      inspector(300).inspect({ remote: `http://127.0.0.1:${port}/a.git`, lookForTests: false }),
    ).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      message: expect.stringContaining('0.3 s'),
    });
  } finally {
    silent.close();
  }
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test.skipIf(!hasOpenssl)(
  'a host with an authority of its own is believed with the file that names it alone',
  async () => {
    const [key, certificate] = [join(data, 'key.pem'), join(data, 'certificate.pem')];
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, ...subject],
      { stdio: 'ignore' },
    );
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (_, response) => {
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const remote = `https://127.0.0.1:${(server.address() as AddressInfo).port}/a.git`;
    try {
      await expect(inspector().inspect({ remote, lookForTests: false })).rejects.toMatchObject({
        code: 'REMOTE_CERTIFICATE_REFUSED',
      });
      await expect(inspector(15_000, certificate).inspect({ remote, lookForTests: false })).rejects.toMatchObject({
        code: 'REMOTE_NOT_FOUND',
      });
    } finally {
      server.close();
    }
  },
);
