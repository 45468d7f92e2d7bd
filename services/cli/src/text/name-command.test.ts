import { expect, test } from 'vitest';
import { nameCommands, readCommandName } from './name-command.ts';

const npx = { npm_lifecycle_event: 'npx', npm_config_local_prefix: '/srv/clone' };

test.each([
  ['as a program of its own', {}, 'flotilla'],
  ['from a shell of another script', { npm_lifecycle_event: 'start' }, 'flotilla'],
  ['with npx in the clone', { ...npx, INIT_CWD: '/srv/clone/services' }, 'npx flotilla'],
  ['with npx in the clone, as older ones tell it', npx, 'npx flotilla'],
  ['with npx from elsewhere', { ...npx, INIT_CWD: '/srv/clone-of-another' }, 'npx --prefix /srv/clone flotilla'],
  [
    'from a clone whose path has a blank',
    { ...npx, npm_config_local_prefix: "/srv/o'my clone", INIT_CWD: '/' },
    "npx --prefix '/srv/o'\\''my clone' flotilla",
  ],
  ['with npm run', { npm_lifecycle_event: 'flotilla' }, 'npm run flotilla --'],
])('called %s, it knows what was typed', (_, environment, name) => {
  expect(readCommandName(environment)).toBe(name);
});

test('commands in a text are written as they are typed, and nothing else is', () => {
  const name = (text: string) => nameCommands(text, 'npx $& flotilla');
  expect(name('See "flotilla list" or `npx flotilla show RUN`; (flotilla diff)')).toBe(
    'See "npx $& flotilla list" or `npx $& flotilla show RUN`; (npx $& flotilla diff)',
  );
  expect(name('flotilla --help\n  flotilla approve RUN')).toBe('npx $& flotilla --help\n  npx $& flotilla approve RUN');
  expect(name('the flotilla. @flotilla/cli a-flotilla list flotilla:eslint')).toBe(
    'the flotilla. @flotilla/cli a-flotilla list flotilla:eslint',
  );
});
