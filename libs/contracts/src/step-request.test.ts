import { expect, test } from 'vitest';
import { modeOf } from './step-request.ts';

test.each([
  ['normal', undefined, 'auto'],
  ['normal', true, 'normal'],
  ['plan', undefined, 'plan'],
  ['auto', undefined, 'auto'],
] as const)('a request of mode %s that says %s of asking works in mode %s', (mode, asksFirst, works) => {
  expect(modeOf({ mode, asksFirst })).toBe(works);
});
