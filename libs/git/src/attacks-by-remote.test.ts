import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommitId } from '@flotilla/contracts/ids';
import { expect, test, vi } from 'vitest';
import { captureChange } from './capture-change.ts';
import { ensureCommit } from './ensure-commit.ts';
import { findLanded, pushCommit, readHead } from './landing.ts';
import { layTree } from './lay-tree.ts';
import { openMirror } from './mirror.ts';
import { parseRemote } from './remote.ts';
import { resolveBranch } from './resolve-branch.ts';
import { createGit } from './run-git.ts';
import {
  at,
  emptyWorkspace,
  landStepId,
  makeRemote,
  mirrorOf,
  occasion,
  plainGit,
  runId,
  scratchDirectory,
  writeFiles,
} from './scratch.fixture.ts';
import { setTrap, tryPlainGit, laySite, expectStillWorks, hostileHost } from './attacks.fixture.ts';

test('hooks named by a relative path in the configuration of the source do not run', async () => {
  const trap = setTrap();
  const remote = makeRemote({
    '.githooks/pre-commit': readFileSync(trap.script, 'utf8'),
    '.githooks/post-checkout': readFileSync(trap.script, 'utf8'),
  });
  const source = remote.checkout;
  execFileSync('chmod', ['-R', '0755', join(source.directory, '.githooks')]);
  source.git('config', 'core.hooksPath', '.githooks');
  tryPlainGit(source.directory, 'commit', '--allow-empty', '-m', 'x');
  expect(trap.sprung()).toBe(true);

  const mirror = await mirrorOf(source.directory);
  const { commit: base } = await readHead(mirror, 'main');
  const directory = emptyWorkspace();
  await layTree(mirror, { commit: base, directory });
  execFileSync('chmod', ['-R', '0755', join(directory, '.githooks')]);
  await expectStillWorks({
    remote,
    mirror,
    base,
    directory,
    capture: () => captureChange(mirror, { base, directory, message: 'x', occasion, at }),
  });
  expect(trap.sprung()).toBe(false);
});

test('names of refs never become options', async () => {
  const site = await laySite();
  const { remote, mirror } = site;
  const pwned = join(remote.checkout.directory, 'PWNED');
  remote.checkout.commit({ 'a.txt': 'b\n' });
  tryPlainGit(remote.checkout.directory, 'diff', 'HEAD~1', '--output=PWNED');
  expect(existsSync(pwned)).toBe(true);

  for (const name of ['--output=PWNED', `--upload-pack=touch ${pwned}2`, '-u', 'x; touch y']) {
    await expect(resolveBranch(mirror, name)).rejects.toMatchObject({ code: 'BRANCH_NAME_REFUSED' });
    await expect(pushCommit(mirror, { commit: site.base, branch: name, expectedOld: site.base })).rejects.toMatchObject(
      { code: 'BRANCH_NAME_REFUSED' },
    );
  }
  remote.read('update-ref', 'refs/heads/--output=PWNED', site.base);
  remote.read('update-ref', 'refs/heads/--upload-pack=x', site.base);
  expect((await resolveBranch(mirror)).branch).toBe('main');
  await expectStillWorks(site);
  expect(existsSync(`${pwned}2`)).toBe(false);
});

test('an address of a remote never becomes a command', async () => {
  const trap = setTrap();
  const address = `ext::sh -c touch% ${trap.canary}`;
  const control = ['-c', 'protocol.ext.allow=always', 'ls-remote', address];
  tryPlainGit('/', ...control);
  expect(trap.sprung()).toBe(true);

  expect(() => parseRemote(address)).toThrow(expect.objectContaining({ code: 'REMOTE_URL_REFUSED' }));
  vi.stubEnv('GIT_ALLOW_PROTOCOL', 'ext');
  const forged = { kind: 'https', url: address, origin: undefined, canonicalId: 'x' } as const;
  const opening = openMirror({
    cacheDirectory: join(scratchDirectory(), 'mirrors'),
    access: { remote: forged, credential: { kind: 'none' } },
    git: createGit(),
  });
  await expect(opening.then((mirror) => resolveBranch(mirror))).rejects.toMatchObject({ code: 'REMOTE_NOT_CLONEABLE' });
  expect(trap.sprung()).toBe(false);
});

test('an address is not rewritten and no credential helper is asked by what the host has configured', async () => {
  const trap = setTrap();
  const site = await laySite();
  const other = makeRemote({ 'other.txt': 'other' });
  const configuration = hostileHost(
    `[url "${other.bare}"]\n\tinsteadOf = ${site.remote.bare}\n[credential]\n\thelper = "!${trap.script}"\n[core]\n\tsshCommand = ${trap.script}\n\taskPass = ${trap.script}\n`,
  );
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: configuration };
  const listed = spawnSync('git', ['ls-remote', site.remote.bare, 'refs/heads/main'], { env, encoding: 'utf8' }).stdout;
  expect(listed).toContain(other.read('rev-parse', 'main'));
  spawnSync('git', ['credential', 'fill'], { env, input: 'protocol=https\nhost=example.invalid\n\n' });
  expect(trap.sprung()).toBe(true);

  expect((await resolveBranch(site.mirror)).commit).toBe(site.base);
  await expect(
    resolveBranch(
      await mirrorOf('git@127.0.0.1:nope.git', {
        credential: { kind: 'ssh-key', keyFile: '/nowhere', knownHostsFile: '/dev/null' },
      }),
    ),
  ).rejects.toThrow();
  expect(trap.sprung()).toBe(false);
});

test('no program is asked about signatures', async () => {
  const trap = setTrap();
  const site = await laySite();
  const configuration = hostileHost(
    `[gpg]\n\tprogram = ${trap.script}\n[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true\n`,
  );
  const body = site.remote
    .read('cat-file', 'commit', 'main')
    .replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n');
  const path = join(scratchDirectory(), 'commit');
  writeFileSync(path, `${body}\n`);
  const signed = CommitId.parse(site.remote.read('hash-object', '-t', 'commit', '-w', path));
  site.remote.read('update-ref', 'refs/heads/main', signed);
  spawnSync('git', ['log', '-1', signed], {
    cwd: site.remote.bare,
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: configuration },
  });
  expect(trap.sprung()).toBe(true);

  await ensureCommit(site.mirror, signed);
  expect(
    await findLanded(site.mirror, { head: signed, since: site.base, change: signed, runId, stepId: landStepId }),
  ).toMatchObject({ kind: 'contained' });
  await expectStillWorks(site);
  expect(trap.sprung()).toBe(false);
});

test('replaced history is neither fetched nor believed', async () => {
  const site = await laySite();
  for (const text of ['b\n', 'c\n']) site.remote.checkout.commit({ 'a.txt': text });
  site.remote.push();
  const head = site.remote.read('rev-parse', 'main');
  site.remote.read('replace', '--graft', head);
  expect(site.remote.read('rev-list', '--count', 'main')).toBe('1');

  const { commit } = await readHead(site.mirror, 'main');
  const refs = await site.mirror.run({ args: ['for-each-ref', 'refs/replace'] });
  expect(refs.stdout).toHaveLength(0);
  tryPlainGit(site.mirror.gitDirectory, '--git-dir=.', 'replace', '--graft', commit);
  expect(plainGit(site.mirror.gitDirectory, '--git-dir=.', 'rev-list', '--count', commit)).toBe('1');
  expect(String((await site.mirror.run({ args: ['rev-list', '--count', commit] })).stdout).trim()).toBe('3');
});

test('a branch that moved after it was read is not overwritten', async () => {
  const site = await laySite();
  writeFiles(site.directory, { 'a.txt': 'mine\n' });
  const captured = await site.capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  const theirs = site.remote.checkout.commit({ 'b.txt': 'theirs\n' });
  site.remote.push();
  expect(await pushCommit(site.mirror, { commit: captured.commit, branch: 'main', expectedOld: site.base })).toEqual({
    kind: 'moved',
    head: theirs,
  });
  expect(site.remote.read('rev-parse', 'main')).toBe(theirs);
});
