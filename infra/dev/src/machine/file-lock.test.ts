import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createReport } from '../report.ts';
import type { ReportEvent } from '../report.ts';
import { isLockTaken, takeFileLock } from './file-lock.ts';
import { withMachineLock } from './machine-lock.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-lock-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('a lock has one holder, and the next one learns who and why', async () => {
  const path = join(directory, 'one.lock');
  const first = await takeFileLock({ path, purpose: 'testing' }, 'at_once');
  expect(await takeFileLock({ path, purpose: 'too' }, 'at_once')).toEqual({
    kind: 'taken',
    holder: { pid: process.pid, purpose: 'testing' },
  });
  expect(await isLockTaken(path)).toBe(true);
  if (first.kind === 'held') await first.release();
  expect(await isLockTaken(path)).toBe(false);
});

test('those who only ask whether a lock is taken do not see one another', async () => {
  const path = join(directory, 'free.lock');
  const answers = await Promise.all(Array.from({ length: 24 }, () => isLockTaken(path)));
  expect(answers).not.toContain(true);
});

test('a holder that is killed holds nothing', async () => {
  const path = join(directory, 'killed.lock');
  const holder = spawnHolder(path);
  await once(holder.stdout, 'data');
  expect(await isLockTaken(path)).toBe(true);
  holder.kill('SIGKILL');
  const lock = await takeFileLock({ path, purpose: 'after the crash' }, 'wait');
  expect(lock.kind).toBe('held');
  if (lock.kind === 'held') await lock.release();
});

test('who waits for a machine lock says for whom, and works after, never beside, the holder', async () => {
  const events: ReportEvent[] = [];
  const report = createReport((event) => events.push(event));
  const order: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const began = Promise.withResolvers<undefined>();
  const holding = withMachineLock({ name: 'set-up', purpose: 'installing things', report, directory }, async () => {
    began.resolve(undefined);
    await first.promise;
    order.push('first');
  });
  await began.promise;
  const waiting = withMachineLock(
    { name: 'set-up', purpose: 'installing more', report, directory },
    async () => void order.push('second'),
  );
  await expect
    .poll(() => events.map(({ text }) => text))
    .toContain(`waiting for process ${process.pid}, which is installing things`);
  first.resolve(undefined);
  await Promise.all([holding, waiting]);
  expect(order).toEqual(['first', 'second']);
});

test('waiting ends when it is called off', async () => {
  const path = join(directory, 'off.lock');
  const lock = await takeFileLock({ path, purpose: 'holding' }, 'at_once');
  const controller = new AbortController();
  const waiting = takeFileLock({ path, purpose: 'waiting', signal: controller.signal }, 'wait');
  controller.abort(new Error('called off'));
  await expect(waiting).rejects.toThrow('called off');
  if (lock.kind === 'held') await lock.release();
});

function spawnHolder(path: string) {
  const module = fileURLToPath(new URL('file-lock.ts', import.meta.url));
  const script = `const { takeFileLock } = await import(${JSON.stringify(module)});
    await takeFileLock({ path: ${JSON.stringify(path)}, purpose: 'dying' }, 'at_once'); console.log('held'); setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--conditions=@flotilla/source', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
