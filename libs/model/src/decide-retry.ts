import type { FlotillaError } from '@flotilla/errors/flotilla-error';

export interface RetryPolicy {
  /** Attempts in all, the first included. Default 4. */
  readonly attempts: number;
  /** Doubles with each attempt. Default 500. */
  readonly firstDelayMs: number;
  /** Cap of our own delay. Default 20,000. */
  readonly maxDelayMs: number;
  /** The longest a provider's retry-after is waited for inside a call; a longer one goes up with the error. Default 60,000. */
  readonly maxRetryAfterMs: number;
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: 4,
  firstDelayMs: 500,
  maxDelayMs: 20_000,
  maxRetryAfterMs: 60_000,
};

export interface FailedAttempt {
  readonly failure: FlotillaError;
  /** 1 for the first. */
  readonly attempt: number;
  /** Whether the caller has already seen a part of this answer: then nothing can be retried unseen. */
  readonly delivered: boolean;
  /** From 0 up to 1. */
  readonly random: number;
}

/** Milliseconds to wait before the next attempt, or null to give the failure up. Full jitter on half of an exponential delay. */
export function decideRetry(
  { failure, attempt, delivered, random }: FailedAttempt,
  policy: RetryPolicy,
): number | null {
  if (delivered || failure.remedy !== 'retry' || attempt >= policy.attempts) return null;
  const own = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  const jittered = own / 2 + (own / 2) * random;
  const asked = failure.details['retryAfterMs'];
  if (typeof asked !== 'number') return Math.round(jittered);
  return asked > policy.maxRetryAfterMs ? null : Math.round(Math.max(asked, jittered));
}
