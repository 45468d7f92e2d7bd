import type { Grants, Mode } from '@flotilla/contracts/grants';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capabilities } from './capabilities.ts';
import { commandClasses } from './command/command-class.ts';
import { decideToolCall, offersCapability } from './decide-tool-call.ts';
import { effectiveMode } from './effective-mode.ts';
import { intersectGrants } from './intersect-grants.ts';
import { verdicts, type PolicyContext, type ToolCall } from './tool-call.ts';

const call = (capability: string, ...paths: string[]): ToolCall => ({
  tool: capability,
  capability,
  mutates: false,
  paths,
});
const run = (command: string): ToolCall => ({ ...call('terminal.run'), command });
const decide = (toolCall: ToolCall, grants: PolicyContext['grants'], mode: Mode = 'auto', network = false) =>
  decideToolCall(toolCall, { grants, mode, network });
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
    run('ls'),
    { 'terminal.run': { paths: ['src/**'] } },
    'auto',
    'refuse',
    'LIMIT_NOT_EVALUABLE',
  ],
  [
    'a limit on classes of what runs nothing cannot be evaluated',
    call('fs.read', 'a'),
    { 'fs.read': { classes: ['READ_ONLY'] } },
    'auto',
    'refuse',
    'LIMIT_NOT_EVALUABLE',
  ],
  [
    'a command that nobody named is refused',
    call('terminal.run'),
    { 'terminal.run': true },
    'auto',
    'refuse',
    'LIMIT_NOT_EVALUABLE',
  ],
  [
    'a call that reaches files names one',
    call('fs.write'),
    { 'fs.write': true },
    'auto',
    'refuse',
    'LIMIT_NOT_EVALUABLE',
  ],
  ['normal mode asks before a write', call('fs.edit', 'a'), { 'fs.edit': true }, 'normal', 'ask', 'ASK_FIRST'],
  [
    'normal mode asks before a command that changes',
    run('touch a'),
    { 'terminal.run': true },
    'normal',
    'ask',
    'ASK_FIRST',
  ],
  ['auto mode does not', run('touch a'), { 'terminal.run': true }, 'auto', 'allow', 'GRANTED'],
  ['normal mode runs what reads', run('ls | wc -l'), { 'terminal.run': true }, 'normal', 'allow', 'GRANTED'],
  ['normal mode runs the tests', call('test.run'), { 'test.run': true }, 'normal', 'allow', 'GRANTED'],
  [
    'no mode covers what cannot be taken back',
    run('git push --force'),
    { 'terminal.run': true },
    'auto',
    'ask',
    'ASK_FIRST',
  ],
  [
    'a run that only reads changes nothing although the class is listed',
    run('touch a'),
    { 'terminal.run': { classes: ['READ_ONLY', 'MUTATING'] } },
    'plan',
    'refuse',
    'MODE_READS_ONLY',
  ],
  ['the destructive is refused', run('rm -rf build'), { 'terminal.run': true }, 'auto', 'refuse', 'COMMAND_REFUSED'],
  ['the privileged is refused', run('sudo ls'), { 'terminal.run': 'ask' }, 'normal', 'refuse', 'COMMAND_REFUSED'],
  [
    'a command of tests is looked at too',
    { ...call('test.run'), command: 'npm test && rm -rf build' },
    { 'test.run': true },
    'auto',
    'refuse',
    'COMMAND_REFUSED',
  ],
  [
    'without a network nothing asks for it',
    run('curl https://x'),
    { 'terminal.run': true },
    'auto',
    'refuse',
    'NO_NETWORK',
  ],
  [
    'a part outside the classes refuses the whole',
    run('ls && touch a'),
    { 'terminal.run': { classes: ['READ_ONLY'] } },
    'auto',
    'refuse',
    'COMMAND_OUTSIDE_GRANT',
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
      network: fc.boolean(),
      classes: fc.subarray([...commandClasses], { minLength: 1 }),
      max_depth: fc.integer({ min: 1, max: 3 }),
      ask: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
);
const anyCommand = fc.constantFrom(
  'ls',
  'npm test',
  'cargo build',
  'touch a',
  'git commit -m x',
  'git push',
  'git push --force',
  'curl https://x',
  'curl x | sh',
  'rm -rf build',
  'sudo ls',
  'ls && touch a',
  '$(',
);
const anyCapability = fc.constantFrom(...Object.keys(capabilities), 'fs.raed');
const anyGrants = fc.dictionary(anyCapability, anyGrant, { maxKeys: 14 });
const anyCall = fc
  .record(
    {
      capability: anyCapability,
      mutates: fc.boolean(),
      paths: fc.array(anyPath, { maxLength: 3 }),
      command: anyCommand,
    },
    { requiredKeys: ['capability', 'mutates', 'paths'] },
  )
  .map((parts) => ({ tool: parts.capability, ...parts }));
const anyMode = fc.constantFrom<Mode>('auto', 'normal', 'plan');
const anyPlace = fc.record({ mode: anyMode, network: fc.boolean(), depth: fc.integer({ min: 0, max: 3 }) });
const rankOf = (toolCall: ToolCall, context: PolicyContext) =>
  verdicts.indexOf(decideToolCall(toolCall, context).verdict);

const runs = { numRuns: 3000 };

test('a stricter mode never loosens a verdict', () => {
  fc.assert(
    fc.property(anyCall, anyGrants, anyPlace, anyMode, (toolCall, grants, place, other) => {
      const lower = effectiveMode(place.mode, other);
      const rank = (mode: Mode) => rankOf(toolCall, { ...place, grants, mode });
      expect(rank(lower)).toBe(Math.max(rank(place.mode), rank(other)));
    }),
    runs,
  );
});

test('the mode of a run is the strictest that was said, whoever says nothing has no opinion, and none raises it', () => {
  const said = fc.option(anyMode, { nil: undefined });
  const order: readonly Mode[] = ['auto', 'normal', 'plan'];
  fc.assert(
    fc.property(anyMode, said, said, (session, request, document) => {
      const ranks = [session, request, document].flatMap((mode) => (mode === undefined ? [] : [order.indexOf(mode)]));
      expect(order.indexOf(effectiveMode(session, request, document))).toBe(Math.max(...ranks));
      expect(effectiveMode(session, document, request)).toBe(effectiveMode(session, request, document));
    }),
    runs,
  );
});

test('an intersection is exactly as strict as its strictest part, in whatever order and however often', () => {
  const some = fc.array(anyGrants, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(anyCall, some, anyPlace, (toolCall, parts, place) => {
      const rank = (...grants: readonly Grants[]) => rankOf(toolCall, { ...place, grants: intersectGrants(...grants) });
      const both = rank(...parts);
      expect(both).toBe(Math.max(...parts.map((grants) => rank(grants))));
      expect(rank(...parts.toReversed())).toBe(both);
      expect(rank(...parts, ...parts)).toBe(both);
    }),
    runs,
  );
});

test('a limit more, a path more, a level more or a network less never loosens a verdict', () => {
  const limits = fc.record({
    classes: fc.subarray([...commandClasses], { minLength: 1 }),
    network: fc.constant(false),
  });
  fc.assert(
    fc.property(anyCall, anyGrants, anyPlace, anyPath, limits, (toolCall, grants, place, path, limit) => {
      const rank = rankOf(toolCall, { ...place, grants });
      if (toolCall.paths.length > 0)
        expect(rankOf({ ...toolCall, paths: [...toolCall.paths, path] }, { ...place, grants })).toBeGreaterThanOrEqual(
          rank,
        );
      expect(rankOf(toolCall, { ...place, grants, depth: place.depth + 1 })).toBeGreaterThanOrEqual(rank);
      expect(rankOf(toolCall, { ...place, grants, network: false })).toBeGreaterThanOrEqual(rank);
      const narrower = [grants, { [toolCall.capability]: limit }];
      expect(rankOf(toolCall, { ...place, grants: narrower })).toBeGreaterThanOrEqual(rank);
    }),
    runs,
  );
});

test('what is not offered is refused if it is called', () => {
  fc.assert(
    fc.property(anyCall, fc.array(anyGrants, { maxLength: 3 }), anyPlace, (toolCall, grants, place) => {
      const context = { ...place, grants };
      fc.pre(!offersCapability(toolCall.capability, toolCall.mutates, context));
      expect(decideToolCall(toolCall, context).verdict).toBe('refuse');
    }),
    runs,
  );
});

test('a destructive or privileged command is refused, and what cannot be taken back is never allowed', () => {
  fc.assert(
    fc.property(anyCall, anyGrants, anyPlace, (toolCall, grants, place) => {
      const { verdict, command } = decideToolCall(toolCall, { ...place, grants });
      if (command?.classes.some((each) => each === 'DESTRUCTIVE' || each === 'PRIVILEGED') === true)
        expect(verdict).toBe('refuse');
      if (command?.irreversible === true) expect(verdict).not.toBe('allow');
    }),
    runs,
  );
});

test('a decision on a command tells what the command was found to do', () => {
  expect(decide(run('git push --force'), { 'terminal.run': true })).toMatchObject({
    verdict: 'ask',
    command: { class: 'REMOTE_MUTATION', irreversible: true },
  });
});

test('a question names what would be changed, with what is not seen written out', () => {
  expect(decide(call('fs.read', 'a\u200b.ts'), { 'fs.read': 'ask' }).reason).toContain('"a\\u{200b}.ts"');
});

test('a run that only reads is offered commands only where their classes are listed', () => {
  const offered = (grants: Grants) => offersCapability('terminal.run', true, { grants, mode: 'plan' });
  expect(offered({ 'terminal.run': true })).toBe(false);
  expect(offered({ 'terminal.run': { classes: ['MUTATING'] } })).toBe(false);
  expect(offered({ 'terminal.run': { classes: ['MUTATING', 'TEST'] } })).toBe(true);
});

test('an agent below the granted levels is not offered the tool', () => {
  const offered = (depth: number) =>
    offersCapability('fs.read', false, { grants: { 'fs.read': { max_depth: 2 } }, mode: 'auto', depth });
  expect([0, 1, 2, 3].map(offered)).toEqual([true, true, false, false]);
});

test('no document at all permits nothing', () => {
  expect(decide(call('fs.read', 'a'), intersectGrants()).verdict).toBe('refuse');
});
