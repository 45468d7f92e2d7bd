import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diffCommits } from './diff.ts';
import { createGit } from './run-git.ts';
import { makeCheckout, plainGit, scratchDirectory, writeFiles } from './scratch.fixture.ts';
import { setTrap, tryPlainGit, laySite, expectStillWorks } from './attacks.fixture.ts';

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

test('directories nested without end are refused by their depth, and what was sensible before is taken again', async () => {
  const site = await laySite();
  mkdirSync(join(site.directory, 'd/'.repeat(900)), { recursive: true });
  await expect(site.capture()).rejects.toMatchObject({
    code: 'CHANGE_REFUSED',
    message: expect.stringContaining('directories nested more than 100 deep'),
  });
  rmSync(join(site.directory, 'd'), { recursive: true });
  mkdirSync(join(site.directory, 'd/'.repeat(20)), { recursive: true });
  await expectStillWorks(site);
});
