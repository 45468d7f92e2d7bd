import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';

/** How often a failure with remedy `retry` is tried again. Waiting is never counted. */
export interface RetryBudget {
  /** Attempts in all, over restarts; 1 never tries again. */
  readonly attempts: number;
  /** Delay before the second attempt, the third, …; the last one repeats. */
  readonly delaysMs: readonly number[];
}

/** How a delivery ends. */
export type Settlement =
  | { readonly kind: 'acknowledged' }
  /** Comes again; `counted` says whether it costs an attempt. */
  | { readonly kind: 'later'; readonly delayMs: number; readonly counted: boolean; readonly error: FlotillaError }
  | { readonly kind: 'dead'; readonly error: FlotillaError }
  /** Another holder has the work; nothing is said to the broker. */
  | { readonly kind: 'abandoned'; readonly error: FlotillaError };

export interface SettlementFacts {
  readonly error: unknown;
  /** Attempts that failed before this one. */
  readonly failures: number;
  readonly budget: RetryBudget;
  readonly leaseLost: boolean;
  readonly stopping: boolean;
}

/** Deliveries that began and died with their process; with this many the message is at fault. */
export const DEATH_LIMIT = 3;
const waitMs = 3_000;
const unclassifiedAttempts = 2;
const longestDelayMs = 10 * 60 * 1000;

/** Settles a delivery whose handler threw. `retryAfterMs` in the error's details is obeyed where it is longer than the plan. */
export function decideSettlement({ error, failures, budget, leaseLost, stopping }: SettlementFacts): Settlement {
  const known = classify(error);
  if (leaseLost) return { kind: 'abandoned', error: known };
  if (stopping) return { kind: 'later', delayMs: 0, counted: false, error: known };
  const later = (planMs: number, counted: boolean): Settlement => ({
    kind: 'later',
    delayMs: Math.min(longestDelayMs, Math.max(planMs, askedDelayMs(known))),
    counted,
    error: known,
  });
  if (known.is(errors.failureUnclassified)) {
    return failures + 1 < unclassifiedAttempts
      ? later(delayAfter(failures, budget), true)
      : { kind: 'dead', error: known };
  }
  switch (known.remedy) {
    case 'wait':
      return later(waitMs, false);
    case 'retry':
      return failures + 1 < budget.attempts
        ? later(delayAfter(failures, budget), true)
        : { kind: 'dead', error: known };
    case 'caller':
    case 'operator':
      return { kind: 'dead', error: known };
  }
}

/** What nobody translated: a full disk, which anything that writes may meet, or something that nobody foresaw. */
export function classify(error: unknown): FlotillaError {
  if (error instanceof FlotillaError) return error;
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
    return new FlotillaError(errors.diskFull, { reason }, { cause: error });
  return new FlotillaError(errors.failureUnclassified, { reason }, { cause: error });
}

function delayAfter(failures: number, { delaysMs }: RetryBudget): number {
  return delaysMs[Math.min(failures, delaysMs.length - 1)] ?? 0;
}

function askedDelayMs({ details }: FlotillaError): number {
  const asked = details['retryAfterMs'];
  return typeof asked === 'number' && Number.isFinite(asked) ? asked : 0;
}
