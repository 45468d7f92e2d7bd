import { expect, test } from 'vitest';
import { lastWords, runCommand } from './run-command.ts';

test('a command that does not exist or fails is a result with its words', async () => {
  expect(await runCommand('no-such-command-at-all', [])).toMatchObject({ code: 127 });
  const result = await runCommand('sh', ['-c', 'echo one; echo two >&2; exit 3']);
  expect(result).toEqual({ code: 3, stdout: 'one\n', stderr: 'two\n' });
  expect(lastWords(result)).toBe('one | two');
});

test('input reaches the command, and its lines arrive whole', async () => {
  const lines: string[] = [];
  await runCommand('cat', [], { input: 'first\nsecond\n', onLine: (line) => lines.push(line) });
  expect(lines).toEqual(['first', 'second']);
});

test('a command that is called off is ended', async () => {
  const controller = new AbortController();
  const running = runCommand('sh', ['-c', 'echo started; exec sleep 60'], {
    signal: controller.signal,
    onLine: () => controller.abort(new Error('called off')),
  });
  await expect(running).rejects.toThrow('called off');
});
