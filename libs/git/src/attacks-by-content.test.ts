import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { captureChange } from './capture-change.ts';
import { diffCommits } from './diff.ts';
import { readHead } from './landing.ts';
import { mergeOnto } from './merge.ts';
import { at, makeCheckout, occasion, runId, scratchDirectory, writeFiles } from './scratch.fixture.ts';
import { setTrap, laySite, hostileHost } from './attacks.fixture.ts';

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
