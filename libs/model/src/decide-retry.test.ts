import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideRetry, defaultRetryPolicy } from './decide-retry.ts';

const limited = (retryAfterMs?: number) =>
  new FlotillaError(errors.modelRateLimited, retryAfterMs === undefined ? {} : { retryAfterMs });

test('nothing is retried once a part was delivered', () => {
  expect(decideRetry({ failure: limited(), attempt: 1, delivered: true, random: 0 }, defaultRetryPolicy)).toBeNull();
});

test('only a failure that another attempt may not have is retried', () => {
  expect(
    decideRetry(
      { failure: new FlotillaError(errors.modelCredentialRefused), attempt: 1, delivered: false, random: 0 },
      defaultRetryPolicy,
    ),
  ).toBeNull();
});

test('a wait is never shorter than the provider asks and never longer than the policy allows', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 90_000 }),
      fc.integer({ min: 1, max: 3 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (asked, attempt, random) => {
        const delay = decideRetry({ failure: limited(asked), attempt, delivered: false, random }, defaultRetryPolicy);
        if (asked > defaultRetryPolicy.maxRetryAfterMs) return delay === null;
        return delay !== null && delay >= asked && delay <= Math.max(asked, defaultRetryPolicy.maxDelayMs);
      },
    ),
  );
});
