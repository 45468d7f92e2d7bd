import { readFileSync } from 'node:fs';
import type { Grants } from '@flotilla/contracts/grants';
import { StepId } from '@flotilla/contracts/ids';
import { expect, test } from 'vitest';
import { compileTopology, readTopology } from './compile-topology.ts';

const document = readFileSync(new URL('../topologies/feature_builder.yaml', import.meta.url), 'utf8');

/** The document with one passage replaced, which must be in it. */
function changed(from: string, to: string): string {
  expect(document).toContain(from);
  return document.replace(from, to);
}

test.each([
  ['a misspelt key', 'summary:', 'sumary:', 'sumary'],
  ['a misspelt limit', 'limits: { steps: 40,', 'limits: { step: 40,', 'limits.step'],
  ['a misspelt key of a step', 'verification: auto', 'verifcation: auto', 'steps.build.verifcation'],
  ['an unknown verb', 'does: plan', 'does: pln', 'steps.plan.does'],
  ['an unknown way to verify', 'verification: auto', 'verification: always', 'steps.build.verification'],
  ['a capability that is no capability id', 'fs.write: true', "'*': true", 'steps.build.grants.*'],
  ['a bare no', 'fs.write: true', 'fs.write: no', 'steps.build.grants.fs.write'],
  ['a bare on', 'fs.write: true', 'fs.write: on', 'steps.build.grants.fs.write'],
  ['a quoted false', 'fs.write: true', "fs.write: 'false'", 'steps.build.grants.fs.write'],
  ['a misspelt limit of a grant', 'fs.write: true', 'fs.write: { path: src }', 'steps.build.grants.fs.write.path'],
  [
    'a misspelt class',
    'terminal.run: true',
    'terminal.run: { classes: [READ_ONYL] }',
    'steps.build.grants.terminal.run.classes.0',
  ],
  ['a grant of a name that every object has', 'fs.write: true', 'constructor: true', 'steps.build.grants.constructor'],
  ['a bare on for the verification', 'verification: auto', 'verification: on', 'steps.build.verification'],
  ['a true for the verification', 'verification: auto', 'verification: true', 'steps.build.verification'],
  ['a negated path', 'fs.write: true', "fs.write: { paths: ['!secret/**'] }", 'steps.build.grants.fs.write.paths.0'],
  [
    'a limit of paths on a command',
    'terminal.run: true',
    'terminal.run: { paths: [src] }',
    'steps.build.grants.terminal.run',
  ],
  ['grants for a step without a model', 'does: open', 'does: open\n    grants: { fs.read: true }', 'steps.open.grants'],
  ['an edge to a step that is not there', 'on: { done: build }', 'on: { done: biuld }', 'steps.plan.on.done'],
  ['an outcome that is none', 'on: { done: build }', 'on: { done: build, finished: build }', 'steps.plan.on.finished'],
  [
    'an outcome that this verb never has',
    'on: { done: build }',
    'on: { done: build, conflict: build }',
    'steps.plan.on.conflict',
  ],
  [
    'a cancelled step that leads on',
    'on: { done: build }',
    'on: { done: build, cancelled: build }',
    'steps.plan.on.cancelled',
  ],
  ['an outcome that leads nowhere', ', parked: approve', '', 'steps.land.on'],
  ['a negative limit', 'turns: 16', 'turns: -1', '(document)'],
  ['an infinite limit', 'turns: 16', 'turns: .inf', '(document)'],
  ['a hexadecimal limit', 'turns: 16', 'turns: 0x1F', '(document)'],
  ['a fraction', 'turns: 16', 'turns: 1.5', '(document)'],
  ['a quoted limit', 'turns: 16', "turns: '16'", 'steps.plan.limits.turns'],
  ['an id that is a path', 'id: feature_builder', 'id: ../../x', 'id'],
  [
    'an example that goes another way',
    '[open: done, setup: done, plan: done, build: no_changes, remember: done]',
    '[open: done, plan: done]',
    'examples.1.path.1',
  ],
  ['an example that ends otherwise', 'ends: no_changes', 'ends: landed', 'examples.1.ends'],
  ['an example without its end', '[open: failed]', '[open: done]', 'examples.11.path.1'],
  ['an example with two steps at once', '[open: failed]', '[{ open: failed, setup: done }]', 'examples.11.path.0'],
  ['a declined step that is no gate', '[open: failed]', '[open: declined]', 'examples.11.path.0'],
])('%s is refused with its path', (_, from, to, path) => {
  expect(() => compileTopology(changed(from, to))).toThrowError(
    expect.objectContaining({ code: 'TOPOLOGY_INVALID', details: expect.objectContaining({ path }) }),
  );
});

test.each([
  ['duplicate keys', changed('summary:', 'id: other\nsummary:')],
  ['an anchor', changed('does: open', 'does: &verb open')],
  ['an alias', changed('does: open', 'does: &verb open').replace('does: setup', 'does: *verb')],
  ['a merge key', changed('does: open', "'<<': { does: open }\n    does: open")],
  ['a second document', `${document}\n---\nid: other\n`],
  ['a directive', `%YAML 1.1\n---\n${document}`],
  ['a tag', changed('summary: Plan', 'summary: !!str Plan')],
  ['an unknown tag', changed('summary: Plan', 'summary: !secret Plan')],
  ['nothing', ''],
  ['a list', '- a\n- b\n'],
  ['more than it takes', `${document}\n# ${'x'.repeat(70_000)}\n`],
  ['a prototype', changed('  open:\n', '  __proto__:\n    does: open\n    on: { done: setup }\n  open:\n')],
])('a document with %s is refused', (_, text) => {
  expect(() => compileTopology(text)).toThrowError(expect.objectContaining({ code: 'TOPOLOGY_INVALID' }));
});

test.each([
  [
    'landing without a gate',
    'on: { done: approve, changes_requested: build }',
    'on: { done: land, changes_requested: build }',
    'land',
    /needs the approval of a human gate; it is reached by open → .* → review → land/,
  ],
  ['landing anew after a conflict without a new approval', 'conflict: resetup', 'conflict: land', 'land', /approval/],
  ['landing what was parked without a new approval', 'parked: approve', 'parked: land', 'land', /approval/],
  [
    'landing what was built after the approval',
    'on: { done: review, no_changes: remember }',
    'on: { done: land, no_changes: remember }',
    'land',
    /approval/,
  ],
  [
    'building before the repository is opened',
    'on: { done: setup }',
    'on: { done: end }',
    'setup',
    /no way leads to it/,
  ],
  [
    'verifying what is no candidate',
    'on: { done: approve, changes_requested: build }',
    'on: { done: verify, changes_requested: build }',
    'verify',
    /candidate/,
  ],
  ['remembering what has no result', 'on: { done: plan }', 'on: { done: remember }', 'remember', /result/],
  [
    'building again once it has landed',
    'on: { done: end, failed: end',
    'on: { done: build, failed: end',
    'build',
    /only remembered/,
  ],
])('%s is refused', (_, from, to, step, reason) => {
  expect(() => compileTopology(changed(from, to))).toThrowError(
    expect.objectContaining({
      details: { topology: 'feature_builder', path: `steps.${step}`, reason: expect.stringMatching(reason) },
    }),
  );
});

test('a step that needs the base commit cannot come first', () => {
  const moved = document
    .replace(/ {2}open:\n.*\n.*\n/, '')
    .replace('\nexamples:', '\n  open:\n    does: open\n    on: { done: setup }\n\nexamples:');
  expect(() => compileTopology(moved)).toThrowError(/steps.setup: it needs the base commit/);
});

test('a misspelt capability is withheld, and whoever loads the document is told where it stands', () => {
  const text = changed('fs.write: true', 'fs.wirte: true');
  expect(readTopology(text).warnings).toMatchObject([{ path: 'steps.build.grants.fs.wirte' }]);
  const { grants } = readTopology(text).steps.get(StepId.parse('build')) as { readonly grants: Grants };
  expect(grants).not.toHaveProperty(['fs.write']);
  expect(grants).not.toHaveProperty(['fs.wirte']);
  expect(compileTopology(text).steps).toMatchObject({ build: { grants } });
});

test.each(['off', "'off'", 'false'])('a verification of %s is off, and whoever loads the document is told', (off) => {
  const text = changed('verification: auto', `verification: ${off}`);
  expect(compileTopology(text).steps).toMatchObject({ build: { verification: 'off' } });
  expect(readTopology(text).warnings).toMatchObject([{ path: 'steps.build.verification' }]);
});

test('a group is frozen into the slip as what it holds, and a capability without a value is not granted', () => {
  const text = changed('fs.write: true', "fs.write:\n      'todo.*': ask").replace('      todo.write: true\n', '');
  expect(compileTopology(text).steps).toMatchObject({ build: { grants: { 'todo.write': 'ask', 'fs.write': false } } });
});

test("a step's limit never exceeds the run's", () => {
  const { steps, budget } = compileTopology(changed('turns: 16', 'turns: 100000'));
  const plan = Object.values(steps).find((step) => step.kind === 'work' && step.does === 'plan');
  expect(plan).toMatchObject({ allowance: { turns: budget.turns, seconds: 15 * 60 } });
});
