import { CommandClass, Grants } from '@flotilla/contracts/grants';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { capabilityIds, groupOf, membersOf } from './capabilities.ts';
import { commandClasses } from './command/command-class.ts';
import { readGrants } from './read-grants.ts';

const rejectedAt = (document: unknown) => {
  const reading = readGrants(document);
  return reading.kind === 'rejected' ? reading.problems.map(({ path }) => path) : reading;
};

test('a document names everything that cannot be decided on', () => {
  expect(
    rejectedAt({
      'terminal.run': { paths: 'src/**' },
      'fs.write': { paths: ['src/**', '!x'], exclude: 'a' },
      'fs.read': { classes: 'READ_ONLY' },
      'fs.list': {},
      'git.*': { exclude: ['a'] },
      'no.such': 'yes',
      '*': true,
      'fs.*.*': true,
      'fs.r*': true,
    }),
  ).toEqual(['terminal.run', 'fs.write.paths.1', 'fs.read', 'fs.list', 'git.*', 'no.such', '*', 'fs.*.*', 'fs.r*']);
});

test('a name that is no capability grants nothing, and whoever loads the document is told', () => {
  expect(
    readGrants({ 'fs.raed': true, 'fs.read': 'ask', 'web.*': true, 'FS.READ': true, 'fs\u2024read': true }),
  ).toMatchObject({
    grants: { 'fs.read': 'ask' },
    withheld: [{ path: 'fs.raed' }, { path: 'web.*' }, { path: 'FS.READ' }, { path: 'fs\u2024read' }],
  });
});

test('what is not seen in a name is written out where it is told', () => {
  expect(readGrants({ 'fs.read\u200b': true })).toMatchObject({ withheld: [{ path: 'fs.read\\u{200b}' }] });
});

test.each(Object.getOwnPropertyNames(Object.prototype))('%s is no name of a capability', (name) => {
  expect(rejectedAt(Object.fromEntries([[name, true]]))).toEqual([name]);
});

test('an inherited grant counts for nothing', () => {
  const document: unknown = Object.create({ 'fs.delete': true });
  expect(readGrants(document)).toEqual({ kind: 'grants', grants: {}, withheld: [] });
});

test('one glob or class stands for a list of one', () => {
  expect(
    readGrants({ 'fs.read': { paths: 'src/**', exclude: '*.key' }, 'terminal.run': { classes: 'TEST' } }),
  ).toMatchObject({
    grants: { 'fs.read': { paths: ['src/**'], exclude: ['*.key'] }, 'terminal.run': { classes: ['TEST'] } },
  });
});

test.each([
  { network: 'off' },
  { network: 0 },
  { ask: 'no' },
  { ask: null },
  { max_depth: 0 },
  { max_depth: 1.5 },
  { paths: [] },
])('the limit %j rejects the document', (limit) => {
  expect(rejectedAt({ 'fs.read': limit })).toEqual([`fs.read.${Object.keys(limit)[0]}`]);
});

test('every capability is in the group of its family, and in no other', () => {
  for (const id of capabilityIds) expect(membersOf(groupOf(id))).toContain(id);
  expect(membersOf('fs.*')).toEqual(capabilityIds.filter((id) => id.startsWith('fs.')));
  expect(['*', 'fs', 'fs.', 'f.*', '.*', 'constructor'].flatMap(membersOf)).toEqual([]);
});

test('classes of commands are the same in grants as in the classifier, in one order', () => {
  expect(CommandClass.options).toEqual(commandClasses);
});

const anyName = fc.oneof(
  fc.constantFrom(...capabilityIds, 'fs.*', 'git.*', '*', '__proto__', 'constructor', 'FS.READ', 'web.get'),
  fc.string(),
);
const anyLimits = fc.dictionary(
  fc.constantFrom('paths', 'exclude', 'network', 'classes', 'max_depth', 'ask', 'path', '__proto__'),
  fc.oneof(fc.constantFrom('src/**', 'TEST', '!x', ['src/**'], [], ['TEST'], 1, true, false), fc.jsonValue()),
);
const anyDocument = fc.dictionary(
  anyName,
  fc.oneof(fc.constantFrom(true, false, null, 'ask', 'no'), anyLimits, fc.jsonValue()),
);

test('whatever a document holds, it is read to grants of capabilities or rejected, and reading again changes nothing', () => {
  fc.assert(
    fc.property(fc.oneof(anyDocument, fc.jsonValue()), (document) => {
      const reading = readGrants(document);
      if (reading.kind === 'rejected') return;
      expect(Object.keys(reading.grants).filter((id) => !capabilityIds.some((each) => each === id))).toEqual([]);
      expect(Grants.parse(reading.grants)).toEqual(reading.grants);
      expect(readGrants(reading.grants)).toEqual({ ...reading, withheld: [] });
    }),
    { numRuns: 3000 },
  );
});
