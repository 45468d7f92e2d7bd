import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { hasEnded, identifyProcess } from './process-identity.ts';

test('a process has ended once it was killed, and not before, nor while it stands still', async () => {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const identity = await identifyProcess(child.pid!);
  expect(await hasEnded(identity!)).toBe(false);
  child.kill('SIGSTOP');
  expect(await hasEnded(identity!)).toBe(false);
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  expect(await hasEnded(identity!)).toBe(true);
});

test('a process that got the id of an earlier one is not that one', async () => {
  const [pid, start, place] = (await identifyProcess(process.pid))!.split('.');
  expect(await hasEnded(`${pid}.${Number(start) - 1}.${place}`)).toBe(true);
});

test('nothing is known of a process of another machine or container, or of what is no process', async () => {
  const [pid, start] = (await identifyProcess(process.pid))!.split('.');
  expect(await hasEnded(`${pid}.${Number(start) - 1}.0123456789abcdef`)).toBe(false);
  expect(await hasEnded('anything')).toBe(false);
});
