import { expect, test } from 'vitest';
import { isServerNewEnough } from './connect-broker.ts';

test.each([
  ['2.9.10', true],
  ['2.9.11-beta.1', true],
  ['2.10.0', true],
  ['2.12.3', true],
  ['3.0.0', true],
  ['v2.10.1', true],
  ['2.9.9', false],
  ['2.8.30', false],
  ['1.99.99', false],
  ['unknown', false],
])('a server of version %s is taken: %s', (version, taken) => {
  expect(isServerNewEnough(version)).toBe(taken);
});
