import { Project } from '@flotilla/contracts/project';
import { expect, test } from 'vitest';
import { needsDetectedTests, warnOfRemote } from './warn-of-remote.ts';

const project = Project.parse({ name: 'shop', remote: '/srv/shop' });

test.each([
  [{ checkedOut: false, tests: 'detected' }, []],
  [{ checkedOut: false }, []],
  [{ checkedOut: true, tests: 'detected' }, ['BRANCH_CHECKED_OUT']],
  [{ checkedOut: true, tests: 'none' }, ['BRANCH_CHECKED_OUT', 'TESTS_NOT_DETECTED']],
] as const)('of a remote that is %j the warnings are %j', (found, codes) => {
  const warnings = warnOfRemote(project, { branch: 'main', tests: undefined, ...found });
  expect(warnings.map(({ code }) => code)).toEqual(codes);
  expect(JSON.stringify(warnings)).not.toMatch(/\{(remote|branch|project)\}/);
});

test('a project that says how it is checked, or that it is not, needs no detected tests', () => {
  expect(needsDetectedTests(project)).toBe(true);
  expect(needsDetectedTests({ ...project, checks: ['make test'] })).toBe(false);
  expect(needsDetectedTests({ ...project, unchecked: true })).toBe(false);
});
