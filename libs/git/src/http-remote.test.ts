import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { captureChange } from './capture-change.ts';
import { ensureCommit } from './ensure-commit.ts';
import { pushCommit, readHead } from './landing.ts';
import { layTree } from './lay-tree.ts';
import { openMirror } from './mirror.ts';
import { parseRemote } from './remote.ts';
import { resolveBranch } from './resolve-branch.ts';
import { createGit, type GitCommandTrace } from './run-git.ts';
import { at, emptyWorkspace, makeRemote, mirrorOf, occasion, scratchDirectory, writeFiles } from './scratch.fixture.ts';

const token = 'glpat-S3CR3T+canary/0123456789';

interface Seen {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ origin: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', authorization: request.headers.authorization, headers: request.headers });
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A listening TCP server's address is an AddressInfo.
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const expected = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;

/** `git http-backend` behind the authorization that a forge asks for. */
function backendOf(root: string, guard: (request: IncomingMessage) => number | undefined) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const refused = guard(request);
    if (refused !== undefined) {
      response.writeHead(refused, refused === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {}).end('no');
      return;
    }
    const url = new URL(request.url ?? '', 'http://x');
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'http.receivepack',
        GIT_CONFIG_VALUE_0: 'true',
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_USER: 'x',
      },
    });
    // It may end before it has read a body that it does not need.
    backend.stdin.on('error', () => undefined);
    const body: Buffer[] = [];
    request.on('data', (chunk: Buffer) => body.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(body);
      backend.stdin.end(request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes);
    });
    const output: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    backend.once('close', () => {
      const whole = Buffer.concat(output);
      const end = whole.indexOf('\r\n\r\n');
      const headers = whole
        .subarray(0, end)
        .toString('latin1')
        .split('\r\n')
        .map((line) => line.split(': ', 2) as [string, string]);
      const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? 200);
      response
        .writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
        .end(whole.subarray(end + 4));
    });
  };
}

const needsToken = (request: IncomingMessage): number | undefined =>
  request.headers.authorization === expected ? undefined : 401;

test('a change goes over http with a token that is in no argument, trace, error or file', async () => {
  const remote = makeRemote();
  const { origin, seen } = await serve(backendOf(remote.directory, needsToken));
  const traces: GitCommandTrace[] = [];
  const mirror = await mirrorOf(`${origin}/remote.git`, { credential: { kind: 'token', token }, traces });
  const { commit: base } = await readHead(mirror, 'main');
  const directory = emptyWorkspace();
  await layTree(mirror, { commit: base, directory });
  writeFiles(directory, { 'a.txt': 'a\n' });
  const change = await captureChange(mirror, { base, directory, message: 'Add a', occasion, at });
  if (change.kind !== 'changed') throw new Error(change.kind);
  expect(await pushCommit(mirror, { commit: change.commit, branch: 'main', expectedOld: base })).toMatchObject({
    kind: 'landed',
  });
  expect(remote.read('rev-parse', 'main')).toBe(change.commit);
  expect(seen.length).toBeGreaterThan(4);
  expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set([expected]));
  for (const form of [token, expected.slice('Basic '.length), encodeURIComponent(token)]) {
    expect(JSON.stringify(traces)).not.toContain(form);
    const found = spawnSync('grep', ['-rlF', '--', form, dirname(mirror.gitDirectory)], { encoding: 'utf8' });
    expect(found.stdout).toBe('');
  }
});

test('no process has the token in its arguments while a transfer runs', async () => {
  const remote = makeRemote();
  const commandLines: string[] = [];
  const backend = backendOf(remote.directory, needsToken);
  const { origin } = await serve((request, response) => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        commandLines.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      } catch {
        // It ended meanwhile.
      }
    }
    backend(request, response);
  });
  await readHead(await mirrorOf(`${origin}/remote.git`, { credential: { kind: 'token', token } }), 'main');
  const ours = commandLines.filter((line) => line.includes(origin));
  expect(ours.length).toBeGreaterThan(0);
  for (const line of commandLines) {
    expect(line).not.toContain(token);
    expect(line).not.toContain(expected.slice('Basic '.length));
  }
});

test.each([
  [401, 'REMOTE_CREDENTIAL_REFUSED', 'caller'],
  [403, 'REMOTE_CREDENTIAL_REFUSED', 'caller'],
  [404, 'REMOTE_NOT_FOUND', 'caller'],
  [429, 'REMOTE_UNREACHABLE', 'retry'],
  [503, 'REMOTE_UNREACHABLE', 'retry'],
])('an answer %i is %s, and its error tells no secret', async (status, code, remedy) => {
  const { origin } = await serve(
    (_request, response) =>
      void response.writeHead(status, { 'www-authenticate': `Basic realm="${token}"` }).end(token),
  );
  const mirror = await mirrorOf(`${origin}/remote.git`, { credential: { kind: 'token', token } });
  const failure: unknown = await resolveBranch(mirror).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, remedy });
  expect(inspect(failure, { depth: 10 })).not.toContain(token);
});

test('without a credential a private repository is refused and no one is asked for a password', async () => {
  const remote = makeRemote();
  const { origin } = await serve(backendOf(remote.directory, needsToken));
  await expect(resolveBranch(await mirrorOf(`${origin}/remote.git`))).rejects.toMatchObject({
    code: 'REMOTE_CREDENTIAL_REFUSED',
  });
});

test('a credential that may only read is a refusal of the push, not a failure', async () => {
  const remote = makeRemote();
  const guard = (request: IncomingMessage): number | undefined =>
    needsToken(request) ?? (request.url?.includes('receive-pack') ? 403 : undefined);
  const { origin } = await serve(backendOf(remote.directory, guard));
  const mirror = await mirrorOf(`${origin}/remote.git`, { credential: { kind: 'token', token } });
  const { commit: base } = await readHead(mirror, 'main');
  expect(await pushCommit(mirror, { commit: base, branch: 'copy', expectedOld: null })).toMatchObject({
    kind: 'refused',
    reason: 'credential',
  });
});

test('a redirect is not followed, so no other host gets the token', async () => {
  const remote = makeRemote();
  const other = await serve(backendOf(remote.directory, () => undefined));
  const { origin } = await serve(
    (request, response) => void response.writeHead(302, { location: `${other.origin}${request.url ?? ''}` }).end(),
  );
  const mirror = await mirrorOf(`${origin}/remote.git`, { credential: { kind: 'token', token } });
  await expect(resolveBranch(mirror)).rejects.toMatchObject({ code: 'REMOTE_REDIRECTED' });
  expect(other.seen).toEqual([]);
});

test('a connection that is cut in the middle of a fetch is a failure of the network and leaves no half commit', async () => {
  const remote = makeRemote();
  const backend = backendOf(remote.directory, () => undefined);
  let cut = false;
  const { origin } = await serve((request, response) => {
    if (cut && request.method === 'POST') return void request.socket.destroy();
    backend(request, response);
  });
  const mirror = await mirrorOf(`${origin}/remote.git`);
  const { commit } = await resolveBranch(mirror);
  cut = true;
  await expect(ensureCommit(mirror, commit)).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE', remedy: 'retry' });
  cut = false;
  await ensureCommit(mirror, commit);
});

test('a server that never answers is given up', async () => {
  const { origin } = await serve(() => undefined);
  const mirror = await mirrorOf(`${origin}/remote.git`);
  const call = mirror.runRemote({
    args: ['ls-remote', '--end-of-options', mirror.access.remote.url],
    timeLimitMs: 500,
  });
  await expect(call).rejects.toMatchObject({ code: 'GIT_TIMED_OUT', remedy: 'retry' });
});

test('a token does not go with an ssh or a local address, nor a key file with https', async () => {
  const mismatch = expect.objectContaining({ code: 'REMOTE_CREDENTIAL_MISMATCH' });
  const key = { kind: 'ssh-key', keyFile: '/keys/id', knownHostsFile: '/keys/known' } as const;
  await expect(mirrorOf('git@host.example:x', { credential: { kind: 'token', token } })).rejects.toEqual(mismatch);
  await expect(mirrorOf(makeRemote().bare, { credential: { kind: 'token', token } })).rejects.toEqual(mismatch);
  await expect(mirrorOf('https://host.example/x', { credential: key })).rejects.toEqual(mismatch);
  await expect(mirrorOf('git@host.example:x')).rejects.toEqual(mismatch);
  await expect(mirrorOf('https://host.example/x', { credential: { kind: 'token', token: 'a\nb' } })).rejects.toEqual(
    mismatch,
  );
  await expect(mirrorOf('git@host.example:x', { credential: { ...key, keyFile: "/keys/i'd" } })).rejects.toEqual(
    mismatch,
  );
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test.skipIf(!hasOpenssl)('an https server is believed only with a certificate that is trusted', async () => {
  const remote = makeRemote();
  const directory = scratchDirectory();
  const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, ...subject],
    { stdio: 'ignore' },
  );
  const server = createTlsServer(
    { key: readFileSync(key), cert: readFileSync(certificate) },
    backendOf(remote.directory, needsToken),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A listening TCP server's address is an AddressInfo.
  const address = `https://localhost:${(server.address() as AddressInfo).port}/remote.git`;
  const credential = { kind: 'token', token } as const;
  await expect(resolveBranch(await mirrorOf(address, { credential }))).rejects.toMatchObject({
    code: 'REMOTE_CERTIFICATE_REFUSED',
  });
  const mirror = await openMirror({
    cacheDirectory: join(directory, 'mirrors'),
    access: { remote: parseRemote(address), credential, certificateFile: certificate },
    git: createGit(),
  });
  expect((await readHead(mirror, 'main')).commit).toBe(remote.read('rev-parse', 'main'));
});
