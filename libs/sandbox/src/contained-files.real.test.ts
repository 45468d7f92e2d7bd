import fs from 'node:fs';
import { errors } from '@flotilla/errors/catalogue';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PoolFixture } from './sandbox.fixture.ts';
import { claim, makeTemporaryDirectory, now, openPool, user } from './sandbox.fixture.ts';
import type { Slot } from './slot.ts';

let fixture: PoolFixture;
let slot: Slot;

beforeAll(async () => {
  fixture = await openPool();
  slot = await fixture.pool.claim(claim());
});
afterAll(async () => {
  await slot.destroy();
  await fixture[Symbol.asyncDispose]();
});

const setUp = async (command: string) => expect(await slot.run({ shell: command })).toMatchObject({ exitCode: 0 });

test('files go both ways, and what is written belongs to the sandbox user', async () => {
  await slot.files.write('from/host.txt', 'hello\n');
  const seen = await slot.run({
    shell: 'stat -c "%u:%g %a" from from/host.txt; cat from/host.txt; echo back > from/sandbox.txt',
  });
  expect(seen.output).toBe(`${user.uid}:${user.gid} 755\n${user.uid}:${user.gid} 644\nhello\n`);
  expect((await slot.files.read('from/sandbox.txt')).text).toBe('back\n');
});

test('a container that swaps a directory for a link gets nothing written outside (A03)', async () => {
  const outside = makeTemporaryDirectory();
  const abort = new AbortController();
  fs.chmodSync(outside, 0o777);
  try {
    // The writer makes directories too, so each step may find something else than the one before left.
    const loop = `mkdir -p swap/d && cd swap && exec python3 -c "
import os, shutil
def attempt(step, *names):
  try: step(*names)
  except OSError: pass
def hold():
  for _ in range(2000): pass
print('ready', flush=True)
while True:
  attempt(shutil.rmtree, 'd'); attempt(os.symlink, '${outside}', 'd'); hold()
  attempt(os.unlink, 'd'); attempt(os.mkdir, 'd'); hold()"`;
    let swapping = false;
    const running = slot.run({ shell: loop }, { signal: abort.signal, onOutput: () => (swapping = true) });
    while (!swapping) await new Promise((resolve) => setTimeout(resolve, 10));
    const outcomes = { written: 0, refused: 0 };
    const controlEscaped = () => fs.existsSync(`${outside}/control`);
    for (let n = 0; n < 10_000; n += 1) {
      // The control: a check followed by a use is fooled by this very loop.
      if (n % 20 === 0) await checkThenWrite(`${slot.directory}/swap/d`);
      try {
        await slot.files.write('swap/d/f', 'x');
        outcomes.written += 1;
      } catch (error) {
        expect([errors.pathRefused.code, errors.fileMissing.code, errors.fileKindWrong.code]).toContain(
          (error as { code?: string }).code,
        );
        outcomes.refused += 1;
      }
    }
    abort.abort();
    await running;
    const escaped = fs.readdirSync(outside).filter((name) => name !== 'control');
    expect(escaped).toEqual([]);
    expect(controlEscaped()).toBe(true);
    expect(outcomes.written).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  } finally {
    abort.abort();
    fs.rmSync(outside, { recursive: true, force: true });
  }
}, 120_000);

async function checkThenWrite(directory: string): Promise<void> {
  try {
    if (!fs.lstatSync(directory).isDirectory()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
    fs.writeFileSync(`${directory}/control`, 'x');
  } catch {
    return;
  }
}

test('searches find text and files, and leave git, ignored files and links out', async () => {
  await setUp(`rm -rf * && git init -q . && mkdir -p src/deep node_modules/x .config && printf 'one\\nneedle here\\nthree\\n' > src/deep/a.ts && echo needle > .config/b.ts
    echo needle > node_modules/x/c.ts && echo node_modules > .gitignore && ln -s / root && ln -s src again && echo needle > ./-e.ts && echo needle > .git/d.ts`);
  const { files } = slot;
  expect((await files.grep('needle')).lines.map(({ path, line, text }) => [path, line, text])).toEqual([
    ['-e.ts', 1, 'needle'],
    ['.config/b.ts', 1, 'needle'],
    ['src/deep/a.ts', 2, 'needle here'],
  ]);
  expect(await files.grep('needle', { path: 'src', contextLines: 1 })).toMatchObject({
    lines: [
      { match: false, text: 'one' },
      { match: true, path: 'src/deep/a.ts' },
      { match: false, text: 'three' },
    ],
  });
  expect((await files.grep('NEEDLE.HERE', { ignoreCase: true, path: 'src/deep/a.ts' })).lines).toHaveLength(1);
  expect((await files.grep('needle.here', { fixed: true })).lines).toEqual([]);
  expect((await files.grep('needle', { glob: '.config/**' })).lines).toHaveLength(1);
  expect((await files.glob('**/*.ts')).paths).toEqual(['-e.ts', '.config/b.ts', 'src/deep/a.ts']);
  expect(await files.glob('*.ts', { path: 'src', limit: 1 })).toEqual({ paths: ['src/deep/a.ts'], truncated: false });
  expect((await files.glob('src/**/*.ts', { path: 'src/deep' })).paths).toEqual(['src/deep/a.ts']);
  expect((await files.glob('*.ts', { path: 'again' })).paths).toEqual(['src/deep/a.ts']);
  expect((await files.glob('**/*', { limit: 2 })).truncated).toBe(true);
  await expect(files.grep('needle', { path: 'none' })).rejects.toMatchObject({ code: errors.fileMissing.code });
  await expect(files.grep('(')).rejects.toMatchObject({ code: errors.searchRefused.code });
  await expect(files.glob('a[')).rejects.toMatchObject({ code: errors.searchRefused.code });
  await expect(files.grep('root', { path: 'root' })).rejects.toMatchObject({ code: errors.pathRefused.code });
  await expect(files.glob('**', { path: 'root/etc' })).rejects.toMatchObject({ code: errors.pathRefused.code });
});

test('searches end in time, whatever the tree is made of (A14)', async () => {
  await setUp(`rm -rf ./* .git* && head -c 1000000 /dev/zero | tr '\\0' a > long && truncate -s 900M sparse && ln -s . loop && ln -s loop loop2
    mkdir many && (cd many && seq 1 10000 | xargs touch)
    d=deep; for n in $(seq 800); do d=$d/d; done; mkdir -p $d 2>/dev/null; true`);
  const started = now();
  expect(await slot.files.grep('(a+)+$')).toMatchObject({ lines: [{ path: 'long' }] });
  expect((await slot.files.grep('(x+x+)+y')).lines).toEqual([]);
  expect((await slot.files.glob('**/**/**/**/*x')).paths).toEqual([]);
  expect((await slot.files.glob('**/*a*a*a*a*a*a*a*a*a*a*b')).paths).toEqual([]);
  const many = await slot.files.glob('many/*');
  expect([many.paths.length, many.truncated]).toEqual([1000, true]);
  expect(now() - started).toBeLessThan(40_000);
  await expect(slot.files.grep('a'.repeat(5000))).rejects.toMatchObject({ code: errors.searchRefused.code });
}, 90_000);
