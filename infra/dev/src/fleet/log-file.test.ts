import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LogFile } from './log-file.ts';

test('what is logged is for its owner alone', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-log-'));
  const path = join(directory, 'service.log');
  const log = new LogFile(path);
  log.write('a line');
  await vi.waitFor(async () => expect((await stat(path)).mode & 0o777).toBe(0o600), 60_000);
  log.close();
  await rm(directory, { recursive: true });
});

test('what a full disk swallows is counted, and the log goes on when there is room again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-log-'));
  const path = join(directory, 'service.log');
  await symlink('/dev/full', path);
  const log = new LogFile(path);
  log.write('lost');
  log.write('lost too');
  await rm(path);
  await vi.waitFor(async () => {
    log.write('kept');
    expect(await readFile(path, 'utf8')).toMatch(/^\{"event":"log_lines_lost","lines":\d+\}\nkept\n/);
  }, 60_000);
  log.close();
  await rm(directory, { recursive: true });
});

test('a file that is full makes way, the last three are kept, and no line is lost or torn', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'flotilla-log-'));
  const path = join(directory, 'service.log');
  await writeFile(path, 'from before\n');
  const log = new LogFile(path, 100);
  for (let n = 0; n < 100; n += 1) log.write(`line ${String(n).padStart(3, '0')}`);
  log.close();
  const readAll = async () => {
    const names = (await readdir(directory)).toSorted().toReversed();
    const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
    return { names, lines: texts.join('').split('\n').slice(0, -1) };
  };
  await vi.waitFor(async () => {
    const { names, lines } = await readAll();
    expect(names).toEqual(['service.log.3', 'service.log.2', 'service.log.1', 'service.log']);
    expect(lines.at(-1)).toBe('line 099');
    const first = 100 - lines.length;
    expect(lines).toEqual(Array.from({ length: lines.length }, (_, n) => `line ${String(first + n).padStart(3, '0')}`));
    for (const name of names) expect((await stat(join(directory, name))).size).toBeLessThanOrEqual(110);
  });
  await rm(directory, { recursive: true });
});
