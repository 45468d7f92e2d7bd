import type { Grants, Mode } from '@flotilla/contracts/grants';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capabilities } from './capabilities.ts';
import { decideToolCall } from './decide-tool-call.ts';
import { intersectGrants, strictestMode } from './intersect-grants.ts';
import { verdicts, type PolicyContext, type ToolCall } from './tool-call.ts';

const call = (capability: string, ...paths: string[]): ToolCall => ({
  tool: capability,
  capability,
  mutates: false,
  paths,
});
const decide = (toolCall: ToolCall, grants: PolicyContext['grants'], mode: Mode = 'normal') =>
  decideToolCall(toolCall, { grants, mode });
const src: Grants = { 'fs.write': { paths: ['src/**'], exclude: ['**/*.lock'] } };

test.each([
  ['a granted capability is allowed', call('fs.read', 'a.ts'), { 'fs.read': true }, 'normal', 'allow', 'GRANTED'],
  ['what nobody grants is refused', call('fs.read', 'a.ts'), {}, 'auto', 'refuse', 'NOT_GRANTED'],
  ['what is withheld is refused', call('fs.read', 'a.ts'), { 'fs.read': false }, 'auto', 'refuse', 'NOT_GRANTED'],
  ['a misspelt grant withholds', call('fs.read', 'a.ts'), { 'fs.raed': true }, 'auto', 'refuse', 'NOT_GRANTED'],
  [
    'a capability nobody defined is refused though granted',
    call('fs.read_all'),
    { 'fs.read_all': true },
    'auto',
    'refuse',
    'UNKNOWN_CAPABILITY',
  ],
  ['an inherited name is no capability', call('constructor'), {}, 'auto', 'refuse', 'UNKNOWN_CAPABILITY'],
  ['an ask has a code of its own', call('fs.write', 'a.ts'), { 'fs.write': 'ask' }, 'auto', 'ask', 'ASK_FIRST'],
  [
    'a mode that reads only refuses a write',
    call('fs.write', 'a.ts'),
    { 'fs.write': true },
    'plan',
    'refuse',
    'MODE_READS_ONLY',
  ],
  [
    'a mode that reads only refuses commands',
    call('terminal.run'),
    { 'terminal.run': true },
    'plan',
    'refuse',
    'MODE_READS_ONLY',
  ],
  ['a mode that reads only reads', call('fs.read', 'a.ts'), { 'fs.read': true }, 'plan', 'allow', 'GRANTED'],
  [
    'a refusal outranks an ask',
    call('fs.write', '../a'),
    { 'fs.write': 'ask' },
    'auto',
    'refuse',
    'PATH_NOT_CANONICAL',
  ],
  [
    'a limit that cannot be evaluated refuses',
    call('terminal.run'),
    { 'terminal.run': { paths: ['src/**'] } },
    'auto',
    'refuse',
    'LIMIT_NOT_EVALUABLE',
  ],
  ['a limit on paths refuses a call without paths', call('fs.write'), src, 'auto', 'refuse', 'LIMIT_NOT_EVALUABLE'],
  [
    'a pattern that cannot be read refuses',
    call('fs.write', 'a'),
    { 'fs.write': { exclude: ['!a'] } },
    'auto',
    'refuse',
    'LIMIT_NOT_EVALUABLE',
  ],
] satisfies [string, ToolCall, Grants, Mode, string, string][])('%s', (_, toolCall, grants, mode, verdict, code) => {
  expect(decide(toolCall, grants, mode)).toMatchObject({ verdict, code });
});

test.each([
  ['src/a.ts', 'allow'],
  ['src/.env', 'allow'],
  ['src/deep/er/a.ts', 'allow'],
  ['docs/a.md', 'refuse'],
  ['SRC/a.ts', 'refuse'],
  ['src', 'refuse'],
  ['src/a.ts/', 'refuse'],
  ['src//a.ts', 'refuse'],
  ['src/./a.ts', 'refuse'],
  ['src/../docs/a.md', 'refuse'],
  ['../src/a.ts', 'refuse'],
  ['/src/a.ts', 'refuse'],
  ['src/a\nb', 'refuse'],
  ['src\\a.ts', 'refuse'],
  ['src/\u202egnp.ts', 'refuse'],
  ['src/uv.lock', 'refuse'],
  ['', 'refuse'],
  ['.', 'refuse'],
  [`src/${'a'.repeat(256)}`, 'refuse'],
])('a write to %j under src/** without locks: %s', (path, verdict) => {
  expect(decide(call('fs.write', path), src).verdict).toBe(verdict);
});

test.each([
  '.git',
  '.git/config',
  'a/.GIT/hooks/x',
  '.git\u200c/config',
  'git~1/config',
  '.git./config',
  '.git /config',
  '.git::$INDEX_ALLOCATION',
  '.ｇit/x',
])('no grant lets a call change %j', (path) => {
  expect(decide(call('fs.write', path), { 'fs.write': true }, 'auto').verdict).toBe('refuse');
});

test.each(['.gitignore', '.github/ci.yml', 'git/a', 'agit~1'])('%j is an ordinary path', (path) => {
  expect(decide(call('fs.write', path), { 'fs.write': true }).verdict).toBe('allow');
});

test('a path longer than a file system takes is refused before anything matches it', () => {
  expect(decide(call('fs.write', `src/${'a/'.repeat(3000)}a`), src).code).toBe('PATH_NOT_CANONICAL');
});

test('every path of a call must be permitted, both sides of a rename too', () => {
  expect(decide(call('fs.write', 'src/a.ts', 'docs/a.md'), src)).toMatchObject({
    verdict: 'refuse',
    code: 'PATH_OUTSIDE_GRANT',
  });
});

test('an excluded directory takes out what is below it', () => {
  expect(decide(call('fs.read', 'keys/a/b'), { 'fs.read': { exclude: ['keys'] } }).code).toBe('PATH_EXCLUDED');
});

test('a walk may begin at the directory whose content it may reach, and only there', () => {
  const grants: Grants = { 'fs.list': { paths: ['src/**'], exclude: ['src/keys/**'] } };
  expect(decide(call('fs.list', 'src'), grants).verdict).toBe('allow');
  expect(decide(call('fs.list', '.'), grants).verdict).toBe('refuse');
  expect(decide(call('fs.list', 'src/keys'), grants).code).toBe('PATH_EXCLUDED');
});

test('a call that changes files counts as changing them although its caller says otherwise', () => {
  expect(decide({ ...call('fs.delete', 'a'), mutates: false }, { 'fs.delete': true }, 'plan').verdict).toBe('refuse');
});

const anyPath = fc.constantFrom(
  '.',
  'src',
  'src/a.ts',
  'src/b/c.lock',
  'docs/a.md',
  '.git/config',
  '../x',
  '/etc',
  'a.ts',
);
const anyPattern = fc.constantFrom('**', 'src/**', '*.ts', '**/*.lock', 'docs/*', '!x', 'src');
const anyGrant = fc.oneof(
  fc.constantFrom<boolean | 'ask'>(true, false, 'ask'),
  fc.record(
    {
      paths: fc.array(anyPattern, { minLength: 1, maxLength: 3 }),
      exclude: fc.array(anyPattern, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: [] },
  ),
);
const anyCapability = fc.constantFrom(...Object.keys(capabilities), 'fs.raed');
const anyGrants = fc.dictionary(anyCapability, anyGrant, { maxKeys: 14 });
const anyCall = fc
  .record({ capability: anyCapability, mutates: fc.boolean(), paths: fc.array(anyPath, { maxLength: 3 }) })
  .map((parts) => ({ tool: parts.capability, ...parts }));
const anyMode = fc.constantFrom<Mode>('auto', 'normal', 'plan');
const rank = (toolCall: ToolCall, grants: PolicyContext['grants'], mode: Mode) =>
  verdicts.indexOf(decide(toolCall, grants, mode).verdict);

test('a stricter mode never loosens a verdict', () => {
  fc.assert(
    fc.property(
      anyCall,
      anyGrants,
      anyMode,
      anyMode,
      (toolCall, grants, one, other) =>
        rank(toolCall, grants, strictestMode(one, other)) >=
        Math.max(rank(toolCall, grants, one), rank(toolCall, grants, other)),
    ),
    { numRuns: 500 },
  );
});

test('an intersection is exactly as strict as its strictest part, in whatever order', () => {
  fc.assert(
    fc.property(anyCall, fc.array(anyGrants, { minLength: 1, maxLength: 4 }), anyMode, (toolCall, parts, mode) => {
      const both = rank(toolCall, intersectGrants(...parts), mode);
      expect(both).toBe(Math.max(...parts.map((grants) => rank(toolCall, grants, mode))));
      expect(rank(toolCall, intersectGrants(...parts.toReversed()), mode)).toBe(both);
    }),
    { numRuns: 500 },
  );
});

test('a further path never loosens a verdict where paths are named', () => {
  fc.assert(
    fc.property(anyCall, anyPath, anyGrants, anyMode, (toolCall, path, grants, mode) => {
      fc.pre(toolCall.paths.length > 0);
      return rank({ ...toolCall, paths: [...toolCall.paths, path] }, grants, mode) >= rank(toolCall, grants, mode);
    }),
    { numRuns: 500 },
  );
});

test('no document at all permits nothing', () => {
  expect(decide(call('fs.read', 'a'), intersectGrants()).verdict).toBe('refuse');
});
