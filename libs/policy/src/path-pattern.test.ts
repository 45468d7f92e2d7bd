import { expect, test } from 'vitest';
import { compilePathPattern } from './path-pattern.ts';

function matches(glob: string, path: string): boolean {
  const compiled = compilePathPattern(glob);
  if (compiled.kind === 'invalid') throw new Error(compiled.reason);
  return compiled.matches(path);
}

test.each([
  ['*.md', 'a.md', true],
  ['*.md', 'docs/a.md', false],
  ['**/*.md', 'a.md', true],
  ['**/*.md', 'docs/deep/a.md', true],
  ['src/**', 'src', false],
  ['src/**', 'src/a', true],
  ['src/**/test/*.ts', 'src/test/a.ts', true],
  ['src/**/test/*.ts', 'src/a/b/test/a.ts', true],
  ['src/**/test/*.ts', 'src/a/b/test/c/a.ts', false],
  ['**', '.hidden/file', true],
  ['*', '.hidden', true],
  ['{src,test}/**', 'test/a', true],
  ['[ab].ts', 'b.ts', true],
  ['{[ab],c}.ts', 'b.ts', true],
  ['[!a].ts', 'b.ts', true],
  ['[!a].ts', 'a.ts', false],
  ['[^a].ts', 'a.ts', false],
  ['[ab]+.ts', 'aa.ts', false],
  ['a.ts', 'A.ts', false],
  ['a.ts', 'axts', false],
])('%s on %s: %s', (glob, path, expected) => {
  expect(matches(glob, path)).toBe(expected);
});

test.each([
  '',
  '!secret/**',
  '/etc/**',
  '../x',
  'a/../b',
  'a//b',
  './a',
  'src/',
  '+(a|b)',
  '+(+(a|b)|c)*x',
  '@(a)',
  'src\\a.ts',
  'a**b',
  '{a/b,c}',
  '{1..9}',
  '*a*b*c*d',
  '{a',
  'a}',
  '{a}',
  '{a,{b,c}}',
  '[a',
  '[]',
  '[[a]]',
  ' src/**',
  'src/** ',
  'a\u0000',
  'a\u202e',
  'x'.repeat(257),
])('the pattern %j is refused', (glob) => {
  expect(compilePathPattern(glob).kind).toBe('invalid');
});

test('the worst pattern that is accepted is decided on quickly on the worst path', () => {
  const glob = `${'**/'.repeat(20)}*a*a*b`;
  const path = `${'a/'.repeat(1500)}${'a'.repeat(255)}`;
  const compiled = compilePathPattern(glob);
  const before = process.cpuUsage();
  expect(compiled.kind === 'pattern' && compiled.matches(path)).toBe(false);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
