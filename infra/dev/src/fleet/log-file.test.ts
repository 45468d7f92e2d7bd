import { mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
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
