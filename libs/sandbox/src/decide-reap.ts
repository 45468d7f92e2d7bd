import type { SlotClaim } from './slot-labels.ts';

/** What is known of a slot that somebody left, or is using. */
export interface ReapFacts {
  /** Whether a container runs on it, and not only a directory is left. */
  readonly container: boolean;
  readonly claim: SlotClaim | undefined;
  /** Of a claimed slot. */
  readonly attemptAlive: boolean;
  /** Whether the process of its pool is known to have ended. */
  readonly ownerEnded: boolean;
  /** How long its pool has been silent; undefined for a pool that is not known. */
  readonly ownerSilenceMs: number | undefined;
  /** Undefined when it has no directory. */
  readonly ageMs: number | undefined;
  /** Of a slot whose pool is not known: whether any pool lives that may be making it. */
  readonly somePoolLives: boolean;
}

/** A pool beats every 5 s; one that has been silent this long is dead. */
const ownerDeadAfterMs = 30_000;

/**
 * No slot outlives the process of its pool: nobody else can use it. Where that process lives, or cannot be seen from here, a claimed
 * slot lives as long as its attempt, a ready one as long as its pool beats, and one that is being made is left alone. A container of
 * a pool that is not known here stays: that nobody is known to use it does not show that nobody does.
 */
export function decideReap(facts: ReapFacts): 'keep' | 'reap' {
  if (facts.ownerEnded) return 'reap';
  if (facts.claim !== undefined) return facts.attemptAlive ? 'keep' : 'reap';
  if (facts.ownerSilenceMs !== undefined) return isDead(facts.ownerSilenceMs) ? 'reap' : 'keep';
  if (facts.container) return 'keep';
  return facts.somePoolLives && facts.ageMs !== undefined && facts.ageMs < ownerDeadAfterMs ? 'keep' : 'reap';
}

/** Whether a pool is known and was silent for so long. */
export function isDead(silenceMs: number | undefined): boolean {
  return silenceMs !== undefined && silenceMs > ownerDeadAfterMs;
}
