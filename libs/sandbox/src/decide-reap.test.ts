import { expect, test } from 'vitest';
import { decideReap } from './decide-reap.ts';

const claim = { run: 'run-1', step: 'build', attempt: 1 };
const silent = { ownerSilenceMs: 3_600_000, ageMs: 3_600_000 };

test.each([
  [
    'an attempt that is alive keeps its slot, even when its pool is dead',
    { claim, attemptAlive: true, ...silent },
    'keep',
  ],
  [
    'an attempt that is dead gives it up, even when its pool lives',
    { claim, attemptAlive: false, ownerSilenceMs: 0, ageMs: 0 },
    'reap',
  ],
  [
    'a ready slot of a living pool stays',
    { claim: undefined, attemptAlive: false, ownerSilenceMs: 6000, ageMs: 1 },
    'keep',
  ],
  [
    'a ready slot of a dead pool goes',
    { claim: undefined, attemptAlive: false, ownerSilenceMs: 31_000, ageMs: 1 },
    'reap',
  ],
  [
    'a slot that is just being made stays',
    { claim: undefined, attemptAlive: false, ownerSilenceMs: undefined, ageMs: 10 },
    'keep',
  ],
  [
    'a slot that nobody finished goes',
    { claim: undefined, attemptAlive: false, ownerSilenceMs: undefined, ageMs: 31_000 },
    'reap',
  ],
  [
    'a container without directory and pool goes',
    { claim: undefined, attemptAlive: false, ownerSilenceMs: undefined, ageMs: undefined },
    'reap',
  ],
] as const)('%s', (_, facts, verdict) => {
  expect(decideReap(facts)).toBe(verdict);
});
