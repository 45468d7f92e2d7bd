import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withFileLock } from './file-lock.ts';
import { scratchDirectory } from './scratch.fixture.ts';

const options = { waitLimitMs: 120_000, holds: 'the test' };

test('two holders in one process never overlap', async () => {
  const path = join(scratchDirectory(), 'lock');
  let inside = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 4 }, () =>
      withFileLock(path, options, async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      }),
    ),
  );
  expect(most).toBe(1);
});

/** Another process that holds the lock in the same way, and starts `child` under it. */
async function holdElsewhere(path: string, child = ''): Promise<ChildProcess> {
  const script = `
    const { withFileLock } = await import(${JSON.stringify(new URL('./file-lock.ts', import.meta.url).href)});
    const { spawn } = await import('node:child_process');
    await withFileLock(${JSON.stringify(path)}, { waitLimitMs: 120_000, holds: 'x' }, async (descriptor) => {
      ${child}
      console.log('held');
      await new Promise(() => setInterval(() => undefined, 1000));
    });`;
  const args = ['--conditions=@flotilla/source', '--input-type=module', '--eval', script];
  const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const [first] = await once(holder.stdout ?? holder, 'data');
  expect(String(first)).toContain('held');
  return holder;
}

test('a holder that is killed leaves nothing that has to be cleared', async () => {
  const path = join(scratchDirectory(), 'lock');
  const holder = await holdElsewhere(path);
  await expect(withFileLock(path, { ...options, waitLimitMs: 50 }, () => Promise.resolve())).rejects.toMatchObject({
    code: 'MIRROR_BUSY',
    remedy: 'wait',
  });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await expect(withFileLock(path, options, () => Promise.resolve('mine'))).resolves.toBe('mine');
});

test('a program that a killed holder had started keeps the lock until it ends', async () => {
  const directory = scratchDirectory();
  const path = join(directory, 'lock');
  const pidFile = join(directory, 'pid');
  const child = `
    const orphan = spawn('sleep', ['600'], { detached: true, stdio: ['ignore', 'ignore', 'ignore', descriptor] });
    (await import('node:fs')).writeFileSync(${JSON.stringify(pidFile)}, String(orphan.pid));`;
  const holder = await holdElsewhere(path, child);
  const orphan = Number(readFileSync(pidFile, 'utf8'));
  onTestFinished(() => void spawnSync('kill', ['-9', String(orphan)]));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await expect(withFileLock(path, { ...options, waitLimitMs: 50 }, () => Promise.resolve())).rejects.toMatchObject({
    code: 'MIRROR_BUSY',
  });
  process.kill(orphan, 'SIGKILL');
  await expect(withFileLock(path, options, () => Promise.resolve('mine'))).resolves.toBe('mine');
});
