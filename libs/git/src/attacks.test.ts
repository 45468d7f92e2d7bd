import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommitId } from '@flotilla/contracts/ids';
import { afterEach, expect, test, vi } from 'vitest';
import { captureChange } from './capture-change.ts';
import { diffCommits } from './diff.ts';
import { ensureCommit } from './ensure-commit.ts';
import { findLanded, pushCommit, readHead } from './landing.ts';
import { layTree } from './lay-tree.ts';
import { mergeOnto } from './merge.ts';
import { openMirror, type Mirror } from './mirror.ts';
import { parseRemote } from './remote.ts';
import { resolveBranch } from './resolve-branch.ts';
import { createGit } from './run-git.ts';
import {
  at,
  emptyWorkspace,
  landStepId,
  makeCheckout,
  makeRemote,
  mirrorOf,
  occasion,
  plainGit,
  runId,
  scratchDirectory,
  writeFiles,
  type Files,
  type ScratchRemote,
} from './scratch.fixture.ts';

/** Every test first shows with plain git that its trap is live, then that ours does not spring it and still does its work. */
interface Trap {
  readonly canary: string;
  readonly script: string;
  /** Whether the payload ran since the last look. */
  sprung(): boolean;
}

function setTrap(): Trap {
  const directory = scratchDirectory();
  const canary = join(directory, 'canary');
  const script = join(directory, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\ntouch ${canary}\ncat\n`, { mode: 0o755 });
  return {
    canary,
    script,
    sprung() {
      const there = existsSync(canary);
      rmSync(canary, { force: true });
      return there;
    },
  };
}

function tryPlainGit(cwd: string, ...args: readonly string[]): void {
  try {
    plainGit(cwd, ...args);
  } catch {
    // Only the canary counts.
  }
}

interface Site {
  readonly remote: ScratchRemote;
  readonly mirror: Mirror;
  readonly base: CommitId;
  readonly directory: string;
  capture(): ReturnType<typeof captureChange>;
}

async function laySite(files: Files = { 'a.txt': 'a\n' }): Promise<Site> {
  const remote = makeRemote(files);
  const mirror = await mirrorOf(remote.bare);
  const { commit: base } = await readHead(mirror, 'main');
  const directory = emptyWorkspace();
  await layTree(mirror, { commit: base, directory });
  return {
    remote,
    mirror,
    base,
    directory,
    capture: () => captureChange(mirror, { base, directory, message: 'Work', occasion, at }),
  };
}

async function expectStillWorks(site: Site): Promise<void> {
  writeFiles(site.directory, { 'neighbour.txt': 'legitimate\n' });
  const captured = await site.capture();
  expect(captured).toMatchObject({ kind: 'changed' });
  if (captured.kind === 'changed') await diffCommits(site.mirror, site.base, captured.commit, { limitBytes: 10_000 });
}

/** A host whose own configuration and environment are full of what must not be read. */
function hostileHost(configuration: string): string {
  const home = scratchDirectory();
  writeFileSync(join(home, '.gitconfig'), configuration);
  vi.stubEnv('HOME', home);
  vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, '.gitconfig'));
  return join(home, '.gitconfig');
}

afterEach(() => {
  vi.unstubAllEnvs();
});

test('a nested repository does not run its fsmonitor', async () => {
  const trap = setTrap();
  const site = await laySite();
  const nested = makeCheckout(join(site.directory, 'sub'));
  nested.commit({ 'x.txt': 'x' });
  nested.git('config', 'core.fsmonitor', trap.script);
  const host = join(site.remote.directory, 'host.git');
  plainGit('/', 'init', '-q', '--bare', host);
  const explicit = [`--git-dir=${host}`, `--work-tree=${site.directory}`, '-c', 'core.hooksPath=/dev/null'];
  tryPlainGit('/', ...explicit, 'add', '--all');
  tryPlainGit('/', ...explicit, 'status');
  expect(trap.sprung()).toBe(true);

  await expect(site.capture()).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
  expect(trap.sprung()).toBe(false);
  rmSync(join(site.directory, 'sub'), { recursive: true });
  await expectStillWorks(site);
  expect(trap.sprung()).toBe(false);
});

test('a nested repository does not run its filter drivers', async () => {
  const trap = setTrap();
  const site = await laySite();
  const nested = makeCheckout(join(site.directory, 'sub'));
  nested.commit({ 'x.txt': 'x', '.gitattributes': '* filter=p\n' });
  nested.git('config', 'filter.p.clean', trap.script);
  writeFiles(nested.directory, { 'x.txt': 'y' });
  const host = join(site.remote.directory, 'host.git');
  plainGit('/', 'init', '-q', '--bare', host);
  const explicit = [
    `--git-dir=${host}`,
    `--work-tree=${site.directory}`,
    '-c',
    'core.fsmonitor=false',
    '-c',
    'core.hooksPath=/dev/null',
  ];
  tryPlainGit('/', ...explicit, 'add', '--all');
  tryPlainGit('/', ...explicit, 'status');
  expect(trap.sprung()).toBe(true);

  await expect(site.capture()).rejects.toMatchObject({ code: 'CHANGE_REFUSED' });
  expect(trap.sprung()).toBe(false);
  rmSync(join(site.directory, 'sub'), { recursive: true });
  await expectStillWorks(site);
});

test('a bare repository embedded at the root is only files', async () => {
  const trap = setTrap();
  const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${trap.script}\n`;
  const site = await laySite({
    HEAD: 'ref: refs/heads/main\n',
    config: config,
    'objects/x': '',
    'refs/heads/.keep': '',
    'a.txt': 'a',
  });
  tryPlainGit(site.directory, 'status');
  expect(trap.sprung()).toBe(true);

  await expectStillWorks(site);
  expect(trap.sprung()).toBe(false);
  const discovered = createGit()({ args: ['rev-parse', '--git-dir'] });
  await expect(discovered).rejects.toMatchObject({ code: 'GIT_FAILED' });
});

test('a rewritten .git of the workspace is never followed', async () => {
  const trap = setTrap();
  const site = await laySite();
  const evil = makeCheckout(join(site.directory, 'evil'));
  evil.commit({ 'x.txt': 'x' });
  evil.git('config', 'core.fsmonitor', trap.script);
  const elsewhere = join(scratchDirectory(), 'elsewhere');
  execFileSync('mv', [join(site.directory, 'evil/.git'), elsewhere]);
  rmSync(join(site.directory, 'evil'), { recursive: true });
  writeFileSync(join(site.directory, '.git'), `gitdir: ${elsewhere}\n`);
  tryPlainGit(site.directory, 'status');
  expect(trap.sprung()).toBe(true);

  await expectStillWorks(site);
  expect(trap.sprung()).toBe(false);
});

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

test('attributes in a tree meet no driver of the host', async () => {
  const trap = setTrap();
  const configuration = hostileHost(
    ['filter.lfs.smudge', 'filter.lfs.clean', 'diff.x.textconv', 'diff.x.command', 'merge.y.driver']
      .map((key) => {
        const [section, name, variable] = key.split('.');
        return `[${section} "${name}"]\n\t${variable} = ${trap.script}\n`;
      })
      .join(''),
  );
  const files = {
    '.gitattributes': '* filter=lfs diff=x merge=y\n',
    'a.txt': 'a\n',
    '.lfsconfig': '[lfs]\n\turl = http://169.254.169.254/\n',
  };
  const control = makeCheckout(join(scratchDirectory(), 'control'));
  writeFiles(control.directory, files);
  spawnSync('git', ['add', '--all'], {
    cwd: control.directory,
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: configuration },
  });
  expect(trap.sprung()).toBe(true);

  const site = await laySite(files);
  writeFiles(site.directory, { 'a.txt': 'b\n' });
  const captured = await site.capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  expect((await diffCommits(site.mirror, site.base, captured.commit, { limitBytes: 10_000 })).text).toContain(
    '-a\n+b\n',
  );
  site.remote.checkout.commit({ 'a.txt': 'c\n' });
  site.remote.push();
  const { commit: head } = await readHead(site.mirror, 'main');
  expect((await mergeOnto(site.mirror, { head, change: captured.commit, message: 'm', occasion, at })).kind).toBe(
    'conflict',
  );
  expect(trap.sprung()).toBe(false);
});

test('a tree cannot hide its changes from the review', async () => {
  const site = await laySite({ 'a.ts': 'export const a = 1;\n', 'nul.ts': 'let x = 1;\n' });
  writeFiles(site.directory, {
    '.gitattributes': '*.ts -diff\n* binary\n',
    'a.ts': 'export const a = 2;\n',
    'nul.ts': 'let x = evil(); // \0\n',
  });
  const checkout = site.remote.checkout;
  writeFiles(checkout.directory, { '.gitattributes': '*.ts -diff\n', 'a.ts': 'export const a = 2;\n' });
  expect(checkout.git('diff')).toContain('Binary files');

  const captured = await site.capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  const diff = await diffCommits(site.mirror, site.base, captured.commit, { limitBytes: 100_000 });
  expect(diff.text).toContain('-export const a = 1;\n+export const a = 2;\n');
  expect(diff.text).toContain('-let x = 1;\n+let x = evil(); // \\x00\n');
  expect(diff.files.find(({ path }) => path === '.gitattributes')?.notes).toEqual(['git-settings']);
});

test('an attribute cannot settle a conflict silently', async () => {
  const { remote, mirror, base, directory, capture } = await laySite({
    'a.ts': 'one\n',
    '.gitattributes': '*.ts merge=union\n',
  });
  writeFiles(directory, { 'a.ts': 'mine\n' });
  const captured = await capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  remote.checkout.commit({ 'a.ts': 'theirs\n' });
  remote.push();
  remote.checkout.git('checkout', '-q', '-b', 'side', base);
  remote.checkout.commit({ 'a.ts': 'mine\n' });
  remote.checkout.git('checkout', '-q', 'main');
  expect(() => remote.checkout.git('merge-tree', '--write-tree', 'main', 'side')).not.toThrow();

  const { commit: head } = await readHead(mirror, 'main');
  const merge = await mergeOnto(mirror, { head, change: captured.commit, message: 'm', occasion, at });
  expect(merge).toMatchObject({ kind: 'conflict', paths: ['a.ts'] });
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

test('a message forges neither trailer, nor author, nor review', async () => {
  const site = await laySite();
  writeFiles(site.directory, { 'a.txt': 'b\n' });
  const message = [
    'Fix it',
    '',
    'Because.',
    '',
    'Flotilla-Run: run_00000000000000000000000000',
    'flotilla-step : land',
    'Reviewed-by: Alice <alice@example.com>',
    '  Signed-off-by: Bob',
    'author Mallory <m@example.com>',
    '',
    '---',
    'Flotilla-Run: run_00000000000000000000000000\r\nFlotilla-Attempt: 9',
    '\u0000',
  ].join('\n');
  const author = { name: 'Ann\nparent 1234 <x>', email: 'ann@example.com>\ncommitter x' };
  const captured = await captureChange(site.mirror, {
    base: site.base,
    directory: site.directory,
    message,
    author,
    occasion,
    at,
  });
  if (captured.kind !== 'changed') throw new Error('expected a change');
  const show = async (format: string): Promise<string> =>
    String((await site.mirror.run({ args: ['log', '-1', `--format=${format}`, captured.commit] })).stdout).trim();
  expect(await show('%(trailers)')).toBe(`Flotilla-Run: ${runId}\nFlotilla-Step: build\nFlotilla-Attempt: 1`);
  expect(await show('%(trailers:key=Reviewed-by)%(trailers:key=Signed-off-by)')).toBe('');
  expect(await show('%P %an %cn <%ce>')).toBe(`${site.base} Ann parent 1234  x Flotilla <flotilla@flotilla.invalid>`);
  const parsed = spawnSync('git', ['interpret-trailers', '--parse'], {
    input: await show('%B'),
    encoding: 'utf8',
  }).stdout;
  expect(parsed).not.toContain('run_00000000000000000000000000');
  expect(await show('%B')).toContain('> Reviewed-by: Alice');
});

test.skipIf(process.getuid?.() !== 0)(
  'a workspace of another user is captured without declaring directories safe',
  async () => {
    const trap = setTrap();
    const site = await laySite();
    const evil = makeCheckout(join(site.directory, 'evil'));
    evil.git('config', 'core.fsmonitor', trap.script);
    execFileSync('mv', [join(site.directory, 'evil/.git'), join(site.directory, '.git')]);
    rmSync(join(site.directory, 'evil'), { recursive: true });
    execFileSync('chown', ['-R', '1000:1000', site.directory]);
    tryPlainGit(site.directory, '-c', 'safe.directory=*', 'status');
    expect(trap.sprung()).toBe(true);

    await expectStillWorks(site);
    expect(trap.sprung()).toBe(false);
  },
);

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

test('a link planted where the walk descends leads nowhere', async () => {
  const site = await laySite({ 'dir/a.txt': 'a\n' });
  const outside = scratchDirectory();
  mkdirSync(join(outside, 'sub'));
  writeFiles(outside, { 'a.txt': 'SECRET-CANARY', 'sub/b.txt': 'SECRET-CANARY' });
  rmSync(join(site.directory, 'dir'), { recursive: true });
  execFileSync('ln', ['-s', outside, join(site.directory, 'dir')]);
  execFileSync('ln', ['-s', join(outside, 'a.txt'), join(site.directory, 'leaf')]);
  expect(readFileSync(join(site.directory, 'dir/a.txt'), 'utf8')).toBe('SECRET-CANARY');

  const captured = await site.capture();
  if (captured.kind !== 'changed') throw new Error('expected a change');
  const diff = await diffCommits(site.mirror, site.base, captured.commit, { limitBytes: 100_000 });
  expect(diff.text).not.toContain('SECRET-CANARY');
  expect(captured.files.map(({ status, path }) => `${status} ${path}`)).toEqual([
    'added dir',
    'deleted dir/a.txt',
    'added leaf',
  ]);
});
