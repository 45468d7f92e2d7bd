import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryDirectory } from '../repository.ts';
import { splitSteps } from './split-steps.ts';

test('a script is its commands, in order and in words', () => {
  expect(splitSteps('npm run build && npm run generate -- --check')).toEqual([
    ['npm', 'run', 'build'],
    ['npm', 'run', 'generate', '--', '--check'],
  ]);
});

test.each(["echo 'a b'", 'a || b', 'a; b', 'a $B', 'a && && b'])('%s is not read as something else', (script) => {
  expect(() => splitSteps(script)).toThrow('no plain command');
});

test('the check command is steps that run others, and one of them runs the unit tests', () => {
  const { scripts } = JSON.parse(readFileSync(join(repositoryDirectory, 'package.json'), 'utf8'));
  const steps = splitSteps(scripts.check);
  for (const [program, run, name] of steps) expect([program, run, name! in scripts]).toEqual(['npm', 'run', true]);
  expect(steps.map(([, , name]) => name)).toContain('test:unit');
});
