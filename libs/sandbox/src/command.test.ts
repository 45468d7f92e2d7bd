import { errors } from '@flotilla/errors/catalogue';
import { expect, test } from 'vitest';
import { commandArgv, commandEnvironment, wrapCommand } from './command.ts';

test('a shell command stays one word, whatever is in it', () => {
  const hostile = `a "b" 'c' $(touch x) \`id\`\n; rm -rf /`;
  expect(commandArgv({ shell: hostile })).toEqual(['/bin/bash', '-c', hostile]);
  expect(wrapCommand(commandArgv({ shell: hostile }), '/workspace', true).at(-1)).toBe(hostile);
});

test.each([
  ['nothing', { argv: [] }],
  ['an empty program', { argv: [''] }],
  ['a NUL', { shell: 'echo a\0b' }],
  ['200 kB', { shell: 'x'.repeat(200_000) }],
  ['200 kB of arguments', { argv: Array.from({ length: 200 }, () => 'x'.repeat(1000)) }],
])('a command of %s is refused', (_, command) => {
  expect(() => commandArgv(command)).toThrow(expect.objectContaining({ code: errors.commandRefused.code }));
});

test('a command gets the fixed environment and what the caller names, and nothing of this process', () => {
  expect(commandEnvironment({ CI: '1' }, ['.venv/bin'])).toEqual({
    HOSTNAME: 'sandbox',
    LANG: 'C.UTF-8',
    USER: 'agent',
    LOGNAME: 'agent',
    SHELL: '/bin/bash',
    CI: '1',
    HOME: '/home/agent',
    PATH: '/workspace/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  });
});

test.each(['PATH', 'HOME', 'BASH_ENV', 'LD_PRELOAD', 'a-b', ''])('the variable %j is refused', (name) => {
  expect(() => commandEnvironment({ [name]: 'x' }, [])).toThrow(
    expect.objectContaining({ code: errors.commandRefused.code }),
  );
});

test.each(['../bin', 'a/../../b', 'a:b'])('the path directory %j is refused', (directory) => {
  expect(() => commandEnvironment({}, [directory])).toThrow(
    expect.objectContaining({ code: errors.commandRefused.code }),
  );
});
