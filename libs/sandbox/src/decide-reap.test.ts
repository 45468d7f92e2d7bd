import { expect, test } from 'vitest';
import { decideReap } from './decide-reap.ts';

const claim = { run: 'run-1', step: 'build', attempt: 1 };
const silent = { ownerSilenceMs: 3_600_000, ageMs: 3_600_000 };
const living = { ownerEnded: false, somePoolLives: true };

test.each([
  [
    'an attempt that is alive keeps its slot, even when its pool is dead',
    { ...living, container: true, claim, attemptAlive: true, ...silent },
    'keep',
  ],
  [
    'an attempt that is dead gives it up, even when its pool lives',
    { ...living, container: true, claim, attemptAlive: false, ownerSilenceMs: 0, ageMs: 0 },
    'reap',
  ],
  [
    'a ready slot of a living pool stays',
    { ...living, container: true, claim: undefined, attemptAlive: false, ownerSilenceMs: 6000, ageMs: 1 },
    'keep',
  ],
  [
    'a ready slot of a dead pool goes',
    { ...living, container: true, claim: undefined, attemptAlive: false, ownerSilenceMs: 31_000, ageMs: 1 },
    'reap',
  ],
  [
    'a slot that is just being made stays',
    { ...living, container: false, claim: undefined, attemptAlive: false, ownerSilenceMs: undefined, ageMs: 10 },
    'keep',
  ],
  [
    'a slot that nobody finished goes',
    { ...living, container: false, claim: undefined, attemptAlive: false, ownerSilenceMs: undefined, ageMs: 31_000 },
    'reap',
  ],
  [
    'a slot that is claimed goes with the process that claimed it, even when its attempt is not given up yet',
    { ...living, ownerEnded: true, container: true, claim, attemptAlive: true, ownerSilenceMs: 1, ageMs: 1 },
    'reap',
  ],
  [
    'a ready slot goes with the process of its pool, however short ago that beat',
    {
      ...living,
      ownerEnded: true,
      container: true,
      claim: undefined,
      attemptAlive: false,
      ownerSilenceMs: 1,
      ageMs: 1,
    },
    'reap',
  ],
  [
    'a slot that somebody began to make goes at once where no pool lives that could finish it',
    {
      ...living,
      somePoolLives: false,
      container: false,
      claim: undefined,
      attemptAlive: false,
      ownerSilenceMs: undefined,
      ageMs: 10,
    },
    'reap',
  ],
  [
    'a container of a pool that is not known stays, however old it is',
    { ...living, container: true, claim: undefined, attemptAlive: false, ownerSilenceMs: undefined, ageMs: undefined },
    'keep',
  ],
] as const)('%s', (_, facts, verdict) => {
  expect(decideReap(facts)).toBe(verdict);
});
