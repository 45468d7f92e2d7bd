import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readHead } from './landing.ts';
import { openMirror, type Mirror } from './mirror.ts';
import { parseRemote } from './remote.ts';
import { createGit } from './run-git.ts';
import { makeRemote, scratchDirectory } from './scratch.fixture.ts';

/** A PATH whose `ssh` writes its arguments down and then does what the test says; a real one cannot be had everywhere. */
async function openOverSsh(
  address: string,
  script: string,
): Promise<{ mirror: Mirror; argumentsOf(): readonly string[] }> {
  const directory = scratchDirectory();
  const log = join(directory, 'arguments');
  writeFileSync(
    join(directory, 'ssh'),
    `#!/bin/sh\nfor a; do printf '%s\\n' "$a" >> ${log}; last=$a; done\n${script}\n`,
    { mode: 0o755 },
  );
  const mirror = await openMirror({
    cacheDirectory: join(directory, 'mirrors'),
    access: {
      remote: parseRemote(address),
      credential: { kind: 'ssh-key', keyFile: '/keys/with space/id_ed25519', knownHostsFile: '/state/known_hosts' },
    },
    git: createGit({ programPath: `${directory}:/usr/local/bin:/usr/bin:/bin` }),
  });
  return { mirror, argumentsOf: () => readFileSync(log, 'utf8').trim().split('\n') };
}

test('ssh is given the key, our own known-hosts file and nothing of the host', async () => {
  const remote = makeRemote();
  const { mirror, argumentsOf } = await openOverSsh(`ssh://git@host.example:2222${remote.bare}`, 'exec sh -c "$last"');
  const head = await readHead(mirror, 'main');
  expect(head.commit).toBe(remote.read('rev-parse', 'main'));
  const given = argumentsOf();
  const options = given.filter((_, index) => given[index - 1] === '-o');
  expect(given.slice(0, 4)).toEqual(['-F', '/dev/null', '-i', '/keys/with space/id_ed25519']);
  expect(options).toEqual(
    expect.arrayContaining([
      'BatchMode=yes',
      'IdentitiesOnly=yes',
      'StrictHostKeyChecking=accept-new',
      'UserKnownHostsFile="/state/known_hosts"',
      'GlobalKnownHostsFile=/dev/null',
      'ProxyCommand=none',
      'PermitLocalCommand=no',
      'ForwardAgent=no',
    ]),
  );
  expect(given).toEqual(expect.arrayContaining(['-p', '2222', 'git@host.example', `git-upload-pack '${remote.bare}'`]));
});

test('the short spelling keeps its path relative to the home of the user there', async () => {
  const { mirror, argumentsOf } = await openOverSsh('git@host.example:org/x.git', 'exit 255');
  await expect(readHead(mirror, 'main')).rejects.toThrow();
  expect(argumentsOf().slice(-2)).toEqual(['git@host.example', "git-upload-pack 'org/x.git'"]);
});

test.each([
  ['git@host.example: Permission denied (publickey).', 'REMOTE_CREDENTIAL_REFUSED'],
  ['Host key verification failed.', 'REMOTE_HOST_KEY_CHANGED'],
  ['@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nPermission denied (publickey).', 'REMOTE_HOST_KEY_CHANGED'],
  ['ERROR: Repository not found.', 'REMOTE_NOT_FOUND'],
  ['ssh: Could not resolve hostname host.example: Name or service not known', 'REMOTE_UNREACHABLE'],
  ['ssh: connect to host host.example port 22: Connection timed out', 'REMOTE_UNREACHABLE'],
])('ssh that says %s is %s', async (complaint, code) => {
  const { mirror } = await openOverSsh('git@host.example:org/x.git', `echo "${complaint}" >&2; exit 255`);
  await expect(readHead(mirror, 'main')).rejects.toMatchObject({ code });
});

test('the real ssh takes our options', async () => {
  const mirror = await openMirror({
    cacheDirectory: join(scratchDirectory(), 'mirrors'),
    access: {
      remote: parseRemote('ssh://git@127.0.0.1:9/org/x.git'),
      credential: { kind: 'ssh-key', keyFile: '/nowhere/id', knownHostsFile: '/nowhere/known_hosts' },
    },
    git: createGit(),
  });
  await expect(readHead(mirror, 'main')).rejects.toMatchObject({
    code: 'REMOTE_UNREACHABLE',
    message: expect.stringContaining('Connection refused'),
  });
});
