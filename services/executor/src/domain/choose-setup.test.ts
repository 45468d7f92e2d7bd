import { expect, test } from 'vitest';
import { chooseSetup, type DetectedSetup } from './choose-setup.ts';

const npm: DetectedSetup = { kind: 'commands', commands: ['npm ci'], lockFiles: ['package-lock.json', 'package.json'] };

test('a task submitted without setup has none, whatever the project says', () => {
  expect(chooseSetup(true, ['make deps'], npm)).toEqual({ kind: 'skipped' });
});

test('what was detected is run, and used again for the same lock files', () => {
  expect(chooseSetup(false, undefined, npm)).toEqual({
    kind: 'run',
    commands: ['npm ci'],
    dependsOn: ['package-lock.json', 'package.json'],
  });
});

test('commands of the project replace the detected ones', () => {
  expect(chooseSetup(false, ['make deps'], npm)).toMatchObject({ kind: 'run', commands: ['make deps'] });
});

test.each<[DetectedSetup]>([[{ kind: 'none' }], [{ kind: 'unsupported', reason: 'no yarn' }]])(
  'where nothing says what commands of the project read, their result is for one tree only',
  (detected) => {
    expect(chooseSetup(false, ['make deps'], detected)).toEqual({
      kind: 'run',
      commands: ['make deps'],
      dependsOn: 'tree',
    });
  },
);

test('an empty list of commands means that the project needs none', () => {
  expect(chooseSetup(false, [], npm)).toEqual({ kind: 'none' });
});

test('what cannot be set up is told, not passed over', () => {
  const unsupported: DetectedSetup = { kind: 'unsupported', reason: 'the image has no yarn' };
  expect(chooseSetup(false, undefined, unsupported)).toEqual(unsupported);
});
